"""`/log`, `/instance/dispose`, `/global/dispose`: the process behind the API."""

from __future__ import annotations

from ninja import Router

router = Router()

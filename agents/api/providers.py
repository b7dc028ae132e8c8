"""`/provider`, `/config/providers`: models and where they come from."""

from __future__ import annotations

from ninja import Router

router = Router()

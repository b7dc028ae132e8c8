"""`/api/permission`, `/api/question` and the requests of a session."""

from __future__ import annotations

from ninja import Router

router = Router()

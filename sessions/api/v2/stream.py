"""`/api/event` and `/api/session/{id}/event`: what happens, also after a cursor."""

from __future__ import annotations

from ninja import Router

router = Router()

"""`/api/session/{id}/message`, `context`, `history`: what was said."""

from __future__ import annotations

from ninja import Router

router = Router()

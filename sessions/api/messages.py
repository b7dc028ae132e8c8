"""`/session/{id}/message/{id}` and its parts: change and remove what was said."""

from __future__ import annotations

from ninja import Router

router = Router()

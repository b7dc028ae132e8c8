"""`/api/session`: sessions, their prompts, undo and choices."""

from __future__ import annotations

from ninja import Router

router = Router()

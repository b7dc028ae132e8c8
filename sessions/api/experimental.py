"""`/experimental` of what sessions, workspaces and consoles have there."""

from __future__ import annotations

from ninja import Router

router = Router()

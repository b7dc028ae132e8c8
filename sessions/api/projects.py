"""`/project`, `/path`: what is open here, and where things are."""

from __future__ import annotations

from ninja import Router

router = Router()

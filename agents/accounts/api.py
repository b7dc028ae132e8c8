"""`/auth`, `/provider/auth`, `/provider/{id}/oauth`: signing in to providers."""

from __future__ import annotations

from ninja import Router

router = Router()

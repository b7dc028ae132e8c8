"""`/session/{id}/share`: a transcript behind a secret address."""

from __future__ import annotations

from ninja import Router

router = Router()

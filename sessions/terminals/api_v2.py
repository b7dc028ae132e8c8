"""`/api/pty`: terminals, in the second protocol."""

from __future__ import annotations

from ninja import Router

router = Router()

"""`/api/integration`, `/api/credential`: the same in the second protocol."""

from __future__ import annotations

from ninja import Router

router = Router()

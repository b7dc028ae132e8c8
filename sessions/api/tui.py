"""`/tui`: the control queue by which a terminal client is driven from outside."""

from __future__ import annotations

from ninja import Router

router = Router()

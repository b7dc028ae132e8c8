"""`/experimental/tool`: the tools that a model would be given."""

from __future__ import annotations

from ninja import Router

router = Router()

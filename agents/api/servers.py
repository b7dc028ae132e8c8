"""`/mcp`, `/lsp`, `/formatter`, `/experimental/resource`: what is connected."""

from __future__ import annotations

from ninja import Router

router = Router()

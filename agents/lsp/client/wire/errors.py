"""An error that a language server answered with."""

from __future__ import annotations

from agents.lsp.types import Failed

CONTENT_MODIFIED = -32801
SERVER_CANCELLED = -32802


class Refused(Failed):
    """`code` is JSON-RPC's."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code

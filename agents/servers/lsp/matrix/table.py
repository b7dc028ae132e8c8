"""All language servers that this program knows by itself."""

from __future__ import annotations

from agents.servers.lsp.matrix import compiled, formats, managed, scripts, web
from agents.servers.lsp.matrix.row import Row

BUILTIN: tuple[Row, ...] = (*web.ROWS, *scripts.ROWS, *compiled.ROWS, *managed.ROWS, *formats.ROWS)
"""In a group of which one runs (`Row.choice`), the one that is preferred comes first."""

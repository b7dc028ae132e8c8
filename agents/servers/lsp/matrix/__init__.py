"""Which language servers there are: each a row of data (the ids are OpenCode's where it has one)."""

from agents.servers.lsp.matrix.configured import rows
from agents.servers.lsp.matrix.row import Package, Row

__all__ = ["Package", "Row", "rows"]

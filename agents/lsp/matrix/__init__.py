"""Which language servers there are: each a row of data (issue 6; the ids are OpenCode's where it has one)."""

from agents.lsp.matrix.configured import rows
from agents.lsp.matrix.row import Package, Row

__all__ = ["Package", "Row", "rows"]

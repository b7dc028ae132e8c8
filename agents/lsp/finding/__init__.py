"""Where a language server's program is: on PATH, in our own folder, or in the project. Reads the disk."""

from agents.lsp.finding.find import find, installed
from agents.lsp.finding.found import Found, Missing

__all__ = ["Found", "Missing", "find", "installed"]

"""Where a language server's program is: on PATH, in our own folder, or in the project. Reads the disk."""

from agents.servers.lsp.finding.find import Found, Missing, find, installed

__all__ = ["Found", "Missing", "find", "installed"]

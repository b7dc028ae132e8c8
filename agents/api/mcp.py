"""The MCP servers of a folder, configured and added by clients, and how they stand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agents.config import McpConfig
from agents.configuration import load

NOT_CONNECTED = "This version of opencode-web does not connect to MCP servers."

_added: dict[Path, dict[str, McpConfig]] = {}
"""What clients have added or switched, by folder, until the configuration is changed or this process ends."""


def servers(directory: Path) -> dict[str, McpConfig]:
    """By name. Reads files."""
    return {**load(directory).config.mcp, **_added.get(directory, {})}


def add(directory: Path, name: str, server: McpConfig) -> None:
    _added.setdefault(directory, {})[name] = server


def forget(directory: Path | None) -> None:
    """Only the configuration counts again, for a folder or for all (None)."""
    if directory is None:
        _added.clear()
    else:
        _added.pop(directory, None)


def switch(directory: Path, name: str, on: bool) -> bool:
    """Enable or disable a server; whether it then is as it was told to be. Raises KeyError."""
    add(directory, name, {**servers(directory)[name], "enabled": on})
    return status(directory, name) == {"status": "connected" if on else "disabled"}


def statuses(directory: Path) -> dict[str, dict[str, Any]]:
    """`{name: {"status": …}}`. Reads files."""
    return {name: _status(server) for name, server in servers(directory).items()}


def status(directory: Path, name: str) -> dict[str, Any]:
    """Raises KeyError."""
    return _status(servers(directory)[name])


def _status(server: McpConfig) -> dict[str, Any]:
    if server.get("enabled") is False:
        return {"status": "disabled"}
    return {"status": "failed", "error": NOT_CONNECTED}

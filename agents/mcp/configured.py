"""The servers of a configuration as they are to be run."""

from __future__ import annotations

from collections.abc import Mapping

from agents.config import McpConfig
from agents.mcp.server import REQUEST_SECONDS, Server, parse

Servers = dict[str, Server | ValueError]
"""By name; an error for an entry that makes no server."""


def parsed(configs: Mapping[str, McpConfig], timeout: object) -> Servers:
    """`timeout` is what is configured for those that have none of their own, in milliseconds."""
    seconds = timeout / 1000 if isinstance(timeout, int) and timeout > 0 else REQUEST_SECONDS
    return {name: _parsed(name, config, seconds) for name, config in configs.items()}


def differing(one: Servers, other: Servers) -> set[str]:
    """The names of those that are in one alone, or otherwise in both."""
    return {name for name in one.keys() | other.keys() if _comparable(one, name) != _comparable(other, name)}


def _parsed(name: str, config: McpConfig, timeout: float) -> Server | ValueError:
    """One that is disabled may have nothing else: it switches off what another file may have."""
    try:
        return parse(name, config, timeout)
    except ValueError as error:
        return error if config.get("enabled") is not False else Server(name, "local", enabled=False)


def _comparable(servers: Servers, name: str) -> Server | str | None:
    found = servers.get(name)
    return str(found) if isinstance(found, ValueError) else found

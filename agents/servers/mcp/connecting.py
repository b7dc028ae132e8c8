"""Connections to MCP servers; the SDK is loaded with the first of them, which takes half a second."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NoReturn

from agents.servers.mcp.connection import Connection
from agents.servers.mcp.server import Server


def connection_to(server: Server, root: Path) -> Connection:
    """One that is not begun, for the worktree of a project."""
    return Connection(server, root, _hold)


async def _hold(connection: Connection) -> NoReturn:
    await (await asyncio.to_thread(_loaded))(connection)


def _loaded() -> Callable[[Connection], Awaitable[NoReturn]]:
    from agents.servers.mcp.link.hold import hold

    return hold

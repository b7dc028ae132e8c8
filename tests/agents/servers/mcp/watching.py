"""Connections to servers for tests, and waiting for what becomes of them."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from agents.config.schema import McpConfig
from agents.servers.mcp.connection import Connection
from agents.servers.mcp.hub import connection_to
from agents.servers.mcp.server import parse
from agents.toolkit.children.loop import background

RAW = Path(__file__).with_name("raw_server.py")
PATIENCE = 30.0


def raw(how: str = "", **more: Any) -> dict[str, Any]:
    """The configuration of `raw_server.py`."""
    return {"type": "local", "command": [sys.executable, "-I", "-S", str(RAW), how], **more}


class Watched:
    """A connection with an event for its changes."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        connection.changed.append(lambda *_: self._loop.call_soon_threadsafe(self._changed.set))

    async def until(self, holds: Callable[[Connection], bool]) -> Connection:
        async with asyncio.timeout(PATIENCE):
            while not holds(self.connection):
                self._changed.clear()
                if not holds(self.connection):
                    await self._changed.wait()
        return self.connection

    async def until_status(self, status: str) -> Connection:
        return await self.until(lambda connection: connection.state.status == status)

    async def tool(self, name: str, within: float | None = None, **arguments: Any) -> str:
        """The text of a tool's answer."""
        result = await self.connection.call(lambda client: client.call_tool(name, arguments), within)
        return "".join(getattr(block, "text", "") for block in result.content)


@asynccontextmanager
async def connecting(config: Mapping[str, Any], root: Path, name: str = "raw") -> AsyncIterator[Watched]:
    """A connection that has been started; ended at the end."""
    connection = connection_to(parse(name, cast(McpConfig, config)), root)
    watched = Watched(connection)
    background.post(connection.start)
    try:
        yield watched
    finally:
        await connection.close()


@asynccontextmanager
async def connected(config: Mapping[str, Any], root: Path, name: str = "raw") -> AsyncIterator[Watched]:
    async with connecting(config, root, name) as watched:
        await watched.until(lambda connection: connection.state.status != "connecting")
        assert watched.connection.state.status == "connected", watched.connection.state
        yield watched


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True

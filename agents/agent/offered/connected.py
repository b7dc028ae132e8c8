"""The servers of a folder as a turn finds them."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from weakref import WeakKeyDictionary

from agents.servers.mcp.connection import Connection
from agents.servers.mcp.hub import hub
from agents.servers.mcp.server import CONNECTING
from agents.toolkit.children.loop import background
from sessions.core.ids import now

FIRST_SECONDS = 2.0
"""A turn waits for a server that is on its first way up until it has had so long, and goes on without it.
Usually it had that when the project was opened; what comes later is there at the next step."""

logger = logging.getLogger(__name__)

_said: WeakKeyDictionary[Connection, set[str]] = WeakKeyDictionary()


async def connections_of(directory: Path) -> dict[str, Connection]:
    """By name; those that just begin have had a moment."""
    found = await asyncio.to_thread(hub.connections, directory)
    begun = max((one.since for one in found.values() if one.state is CONNECTING), default=0)
    if (left := FIRST_SECONDS - (now() - begun) / 1000) > 0:
        await hub.ready(directory, left)
    return found


def say_once(connection: Connection, words: str) -> None:
    """In the log of the server that people see, and in that of the program. From any thread."""
    said = _said.setdefault(connection, set())
    if words not in said:
        said.add(words)
        logger.warning("MCP server %s: %s", connection.server.name, words)
        background.post(connection.log.say, f"[{words}]")

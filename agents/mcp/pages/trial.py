"""Connect to a server once to see whether that works: nothing is kept, and the agent sees nothing of it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from agents.children.loop import background
from agents.mcp.connection import Connection
from agents.mcp.offers import Offers
from agents.mcp.pages.listing import counted
from agents.mcp.server import Server
from agents.mcp.state import State
from sessions.rendering.text import terminal

LOG_LINES = 20
GRACE_SECONDS = 5.0
"""Beyond the server's own limit for its start."""


@dataclass(frozen=True, slots=True)
class Result:
    state: State
    offers: Offers
    log: str
    """The last lines of what the server said."""

    @property
    def offered(self) -> str:
        return counted(self.offers)


async def tried(server: Server, root: Path) -> Result:
    """From any loop. `root` is the worktree that the server is started in."""
    return await background.ask(_tried(Connection(server, root)))


async def _tried(connection: Connection) -> Result:
    try:
        connection.start()
        async with asyncio.timeout(connection.server.start_timeout + GRACE_SECONDS):
            await connection.settled()
    except TimeoutError:
        return _result(connection, State("failed", "It did not start in time."))
    else:
        return _result(connection, connection.state)
    finally:
        await connection.close()


def _result(connection: Connection, state: State) -> Result:
    own = f"[{state.status}] "
    said = [line for line in connection.log.lines() if line.strip() and not line.startswith(own)]
    return Result(state, connection.offers, terminal("\n".join(said[-LOG_LINES:])))

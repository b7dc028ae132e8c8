"""Context Sources that tell what servers say about their use (MCP, `instructions`)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from agents.agent.context.source import Source
from agents.agent.offered.connected import connections_of
from agents.agent.offered.naming import sanitised
from agents.agent.offered.tools import names_of
from agents.servers.mcp.connection import Connection
from agents.servers.mcp.texts import clean
from agents.toolkit.permission.rules import hidden_tools
from agents.toolkit.turn import Turn

KEY = "mcp/instructions"
MAX_INSTRUCTIONS = 8_192
"""Characters of one server."""
_TAG = "mcp-instructions"


async def produce(turn: Turn) -> Sequence[Source[str]]:
    """One for each server that says something, unless the turn's agent may use none of its tools. What a
    server said stays while it is started again."""
    connections = await connections_of(turn.directory)
    telling = [one for one in connections.values() if one.instructions.strip()]
    return [_source(one) for one in telling if await asyncio.to_thread(_is_of_use, one, turn)]


def _source(connection: Connection) -> Source[str]:
    name = connection.server.name
    text = clean(connection.instructions.strip(), MAX_INSTRUCTIONS)

    async def load() -> str:
        return text

    return Source(
        f"{KEY}/{name}",
        load,
        encode=str,
        baseline=partial(_told, name),
        update=lambda value: f"The instructions have changed. {_told(name, value)}",
        removal=lambda value: f'The MCP server "{sanitised(name)}" is no longer there, nor are its tools.',
    )


def _told(name: str, text: str) -> str:
    shown = sanitised(name)
    return (
        f'The MCP server "{shown}", whose tools begin with `{shown}_`, says this about their use:\n'
        f"<{_TAG}>\n{text.replace(_TAG, '')}\n</{_TAG}>"
    )


def _is_of_use(connection: Connection, turn: Turn) -> bool:
    names = names_of([connection]).values()
    return len(hidden_tools(((name, name) for name in names), turn.rules)) < len(names) or not names

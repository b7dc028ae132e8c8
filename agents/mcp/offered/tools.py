"""Tools of MCP servers take part in every turn of their project (seed 000 §4.3, seed 004 §14.3)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from agents.mcp.connection import Connection
from agents.mcp.errors import ServerFailed
from agents.mcp.offered.calling import call_tool
from agents.mcp.offered.connected import connections_of, say_once
from agents.mcp.offered.naming import Pair, is_plain, tool_names
from agents.mcp.offered.results import adapted
from agents.mcp.offered.schemas import harmless
from agents.mcp.offered.texts import clean
from agents.tools.base import FreeInput, Tool, ToolContext, ToolError, ToolResult
from agents.tools.names import NAMES as BUILTIN
from agents.turn import Turn
from sessions.wire.formats import BadSchema
from sessions.wire.patterns import EVERYTHING

if TYPE_CHECKING:
    from mcp import types

NAME = "MCP servers"
MAX_DESCRIPTION = 16_384
"""Characters that a model is shown."""


@dataclass(frozen=True, slots=True)
class _Usable:
    """A tool that a model can be given; `name` is the server's."""

    name: str
    title: str
    description: str
    schema: Mapping[str, Any]


_usable: WeakKeyDictionary[Connection, tuple[tuple[types.Tool, ...], Sequence[_Usable]]] = WeakKeyDictionary()
"""What was made of the tools that a server listed last: checking schemas takes a millisecond each."""


async def contributed(turn: Turn) -> Sequence[Tool[Any]]:
    """All that the servers of a turn's folder list. Those of a server that died are still there: a call says
    that it is gone, and a request stays as it is while the server is started again."""
    connections = await connections_of(turn.directory)
    return await asyncio.to_thread(offered, connections.values()) if connections else []


def offered(connections: Iterable[Connection]) -> list[Tool[Any]]:
    """As the model is given them. Blocks."""
    found = {
        (connection.server.name, tool.name): (connection, tool)
        for connection in connections
        for tool in _tools(connection)
    }
    names = tool_names(found, taken=BUILTIN)
    for pair, name in names.items():
        if not is_plain(pair, name):
            say_once(
                found[pair][0],
                f"the tool {clean(pair[1], 100)!r} is known as {name}, as the name is taken or too long",
            )
    return [_tool(names[pair], *found[pair]) for pair in found]


def names_of(connections: Iterable[Connection]) -> dict[Pair, str]:
    """The names that the tools of servers have here, by (server, tool). Blocks."""
    pairs = [(connection.server.name, tool.name) for connection in connections for tool in _tools(connection)]
    return tool_names(pairs, taken=BUILTIN)


def _tools(connection: Connection) -> Sequence[_Usable]:
    listed = connection.tools
    known = _usable.get(connection)
    if known is None or known[0] is not listed:
        known = _usable[connection] = (listed, [made for tool in listed if (made := _made(connection, tool))])
    return known[1]


def _made(connection: Connection, tool: types.Tool) -> _Usable | None:
    """None for one that cannot be used, which is said."""
    name = clean(tool.name, 200)
    if tool.execution is not None and tool.execution.task_support == "required":
        say_once(connection, f"the tool {name!r} is left out: it runs as a task, which is not supported here")
        return None
    try:
        schema = harmless(tool.input_schema)
    except BadSchema as error:
        say_once(connection, f"the tool {name!r} is left out, its arguments are not described well: {error}")
        return None
    title = tool.title or (tool.annotations.title if tool.annotations else None) or tool.name
    description = clean(tool.description or title, MAX_DESCRIPTION)
    return _Usable(tool.name, clean(title, 200), description, schema)


def _tool(name: str, connection: Connection, tool: _Usable) -> Tool[FreeInput]:
    return Tool(
        name=name,
        description=tool.description,
        input=FreeInput,
        execute=partial(_execute, name, connection, tool),
        permission=name,
        parameters=tool.schema,
    )


async def _execute(
    name: str, connection: Connection, tool: _Usable, input: FreeInput, ctx: ToolContext
) -> ToolResult:
    """What it changed in the project while it ran goes into the ledger, as for a command."""
    arguments = dict(input.model_extra or {})
    about = {"server": connection.server.name, "tool": clean(tool.name, 200)}
    await ctx.ask(name, [EVERYTHING], always=[EVERYTHING], metadata={**about, "input": arguments})
    given: list[types.CallToolResult] = []

    async def run() -> None:
        given.append(await call_tool(connection, tool.name, arguments, ctx))

    try:
        await ctx.around_shell(run)
    except ServerFailed as failure:
        raise ToolError(str(failure)) from failure
    title = f"{about['server']}: {tool.title}"
    return await asyncio.to_thread(adapted, given[0], title, about, ctx.output_directory)

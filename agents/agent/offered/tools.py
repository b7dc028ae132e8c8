"""Tools of MCP servers take part in every turn of their project."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from agents.agent.offered.connected import connections_of, say_once
from agents.agent.offered.naming import Pair, is_plain, tool_names
from agents.agent.offered.results import adapted, whole
from agents.servers.mcp import apps
from agents.servers.mcp.asked.elicitation import visit
from agents.servers.mcp.asked.owner import Owner
from agents.servers.mcp.calls import Call
from agents.servers.mcp.connection import Connection
from agents.servers.mcp.errors import ServerFailed
from agents.servers.mcp.texts import clean
from agents.toolkit.base import FreeInput, Tool, ToolContext, ToolError, ToolResult
from agents.toolkit.names import NAMES as BUILTIN
from agents.toolkit.turn import Turn
from sessions.core.wire.formats import BadSchema, check
from sessions.core.wire.patterns import EVERYTHING

if TYPE_CHECKING:
    from mcp import Client, types


NAME = "MCP servers"
MAX_DESCRIPTION = 16_384
"""Characters that a model is shown."""


@dataclass(frozen=True, slots=True)
class Usable:
    """A tool that can be called; `name` is the server's. `app` is the address of its app's document."""

    name: str
    title: str
    description: str
    schema: Mapping[str, Any]
    app: str
    for_model: bool
    for_app: bool


_usable: WeakKeyDictionary[Connection, tuple[tuple[types.Tool, ...], Sequence[Usable]]] = WeakKeyDictionary()
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
        for tool in tools_of(connection)
    }
    names = tool_names(found, taken=BUILTIN)
    for pair, name in names.items():
        if not is_plain(pair, name):
            say_once(
                found[pair][0],
                f"the tool {clean(pair[1], 100)!r} is known as {name}, as the name is taken or too long",
            )
    return [_tool(names[pair], *found[pair]) for pair in found if found[pair][1].for_model]


def names_of(connections: Iterable[Connection]) -> dict[Pair, str]:
    """The names that the tools of servers have here, by (server, tool). Blocks."""
    pairs = [(one.server.name, tool.name) for one in connections for tool in tools_of(one)]
    return tool_names(pairs, taken=BUILTIN)


def tools_of(connection: Connection) -> Sequence[Usable]:
    """Those of a server that can be called, in its order. Blocks."""
    listed = connection.tools
    known = _usable.get(connection)
    if known is None or known[0] is not listed:
        known = _usable[connection] = (listed, [made for tool in listed if (made := _made(connection, tool))])
    return known[1]


def _made(connection: Connection, tool: types.Tool) -> Usable | None:
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
    return Usable(
        name=tool.name,
        title=clean(title, 200),
        description=description,
        schema=schema,
        app=apps.address_of(tool),
        for_model=apps.is_for(tool, "model"),
        for_app=apps.is_for(tool, "app"),
    )


def _tool(name: str, connection: Connection, tool: Usable) -> Tool[FreeInput]:
    return Tool(
        name=name,
        description=tool.description,
        input=FreeInput,
        execute=partial(_execute, name, connection, tool),
        permission=name,
        parameters=tool.schema,
    )


async def _execute(
    name: str, connection: Connection, tool: Usable, input: FreeInput, ctx: ToolContext
) -> ToolResult:
    result = await use(name, connection, tool, dict(input.model_extra or {}), ctx)
    title = f"{connection.server.name}: {tool.title}"
    about: dict[str, Any] = _about(connection, tool)
    if tool.app:
        about["app"] = {"uri": tool.app, **await asyncio.to_thread(whole, result)}
    return await asyncio.to_thread(adapted, result, title, about, ctx.output_directory)


async def use(
    name: str, connection: Connection, tool: Usable, arguments: dict[str, Any], ctx: ToolContext
) -> types.CallToolResult:
    """Call a tool, known here as `name`, where that is allowed. What it changed in the project while it ran
    goes into the ledger, as for a command. Raises ToolError, NotPermitted."""
    asked = {**_about(connection, tool), "input": arguments}
    await ctx.ask(name, [EVERYTHING], always=[EVERYTHING], metadata=asked)
    given: list[types.CallToolResult] = []

    async def run() -> None:
        given.append(await call_tool(connection, tool.name, arguments, ctx))

    try:
        await ctx.around_shell(run)
    except ServerFailed as failure:
        raise ToolError(str(failure)) from failure
    return given[0]


def _about(connection: Connection, tool: Usable) -> dict[str, str]:
    return {"server": connection.server.name, "tool": clean(tool.name, 200)}


# One call of a server's tool: its progress goes to the card, its questions to the person.

SHOWN_SECONDS = 0.1
"""Between two updates of a card."""
PAGE_FIRST = -32042
"""The error of a call that needs a page opened first (MCP 2025-11-25, client/elicitation)."""
MOST_PAGES = 5
MAX_MESSAGE = 300
"""Characters of what a server says about its progress."""


async def call_tool(
    connection: Connection, name: str, arguments: dict[str, Any], ctx: ToolContext
) -> types.CallToolResult:
    """Progress, and a question to the person, let the time of the call begin anew. A call that wants a page
    opened first is made again when the person did that. Cancelling this tells the server. Raises
    ServerFailed."""
    try:
        return await _called(connection, name, arguments, ctx)
    except ServerFailed as failure:
        pages = _pages(failure.__cause__)
        if not pages:
            raise
        for message, url in pages:
            if (await visit(ctx, connection.server.name, message, url)).action != "accept":
                raise
    return await _called(connection, name, arguments, ctx)


async def _called(
    connection: Connection, name: str, arguments: dict[str, Any], ctx: ToolContext
) -> types.CallToolResult:
    loop = asyncio.get_running_loop()
    call = Call(owner=Owner(ctx, loop))
    card = _Progress(ctx, loop)

    async def told(progress: float, total: float | None, message: str | None) -> None:
        call.touch()
        card.take(progress, total, message)

    async def use(client: Client) -> types.CallToolResult:
        return await client.call_tool(name, arguments, progress_callback=told)

    following = asyncio.create_task(card.follow())
    try:
        return await connection.call(use, call=call)
    finally:
        following.cancel()
        with suppress(asyncio.CancelledError):
            await following


def _pages(error: BaseException | None) -> list[tuple[str, str]]:
    """(message, address) of what has to be opened before a call can be made, if its error says so."""
    if getattr(error, "code", None) != PAGE_FIRST:
        return []
    data = getattr(getattr(error, "error", None), "data", None)
    wanted = data.get("elicitations") if isinstance(data, dict) else None
    pages = [one for one in wanted if isinstance(one, dict)] if isinstance(wanted, list) else []
    return [(str(one.get("message", "")), str(one.get("url", ""))) for one in pages[:MOST_PAGES]]


class _Progress:
    """Brings progress from the loop of the servers to the card, the newest only, however fast it comes."""

    def __init__(self, ctx: ToolContext, loop: asyncio.AbstractEventLoop) -> None:
        self._ctx = ctx
        self._loop = loop
        self._news = asyncio.Event()
        self._told = False
        self._newest: dict[str, Any] = {}

    def take(self, done: float, total: float | None, message: str | None) -> None:
        """From any thread."""
        self._newest = {"done": done, "total": total, "message": clean(message or "", MAX_MESSAGE)}
        if not self._told:
            self._told = True
            self._loop.call_soon_threadsafe(self._news.set)

    async def follow(self) -> None:
        """On the turn's loop, until cancelled."""
        while True:
            await self._news.wait()
            self._news.clear()
            self._told = False  # before the newest is read, so that none is missed
            await self._ctx.update(metadata={"progress": self._newest})
            await asyncio.sleep(SHOWN_SECONDS)


# The schema of a tool's arguments as providers take it. One tool that they refuse would fail every request,
# so what they refuse is taken out, and a tool that is hopeless is left out.
#
# Source: what Anthropic's and OpenAI's APIs say of `input_schema` and `parameters`: an object at the top,
# without combinations there, and property names of 64 letters, digits, `_`, `.` and `-`.

_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_BRANCHES = ("allOf", "anyOf", "oneOf")
_COMBINATIONS = (*_BRANCHES, "not", "enum", "const", "if", "then", "else")


def harmless(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema, changed where a provider would refuse it: the server checks the arguments in any case.
    Raises BadSchema for what no model can be given. Blocks."""
    made = _copied(schema)
    properties = {name: value for name, value in _properties(made).items() if _PROPERTY.fullmatch(name)}
    made = {key: value for key, value in made.items() if key not in _COMBINATIONS}
    made |= {"type": made.get("type", "object"), "properties": properties}
    if isinstance(required := made.get("required"), list):
        made["required"] = [name for name in required if name in properties]
    check(made)
    made.pop("$schema", None)
    return {**made, "type": "object"}


def _copied(schema: Mapping[str, Any]) -> dict[str, Any]:
    try:
        text = clean(json.dumps(dict(schema), ensure_ascii=False, allow_nan=False))
        copied: dict[str, Any] = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadSchema("it is no JSON") from error
    return copied


def _properties(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Its own, and those of its alternatives, none of which is required then."""
    branches = [
        branch for name in _BRANCHES for branch in _list(schema.get(name)) if isinstance(branch, dict)
    ]
    found: dict[str, Any] = {}
    for inside in (*branches, schema):
        if isinstance(named := inside.get("properties"), dict):
            found |= named
    return found


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []

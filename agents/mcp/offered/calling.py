"""One call of a server's tool: its progress goes to the card, its questions to the person."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from agents.mcp.asked.elicitation import visit
from agents.mcp.asked.owner import Owner
from agents.mcp.calls import Call
from agents.mcp.connection import Connection
from agents.mcp.errors import ServerFailed
from agents.mcp.offered.texts import clean
from agents.tools.base import ToolContext

if TYPE_CHECKING:
    from mcp import Client, types

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
    owner = Owner(ctx, loop)
    call = Call(owner=owner)
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
        owner.leave()
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

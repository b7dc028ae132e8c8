"""One life of a connection: connect, list, follow, until the server is gone."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import TYPE_CHECKING, Any, NoReturn

import anyio
from mcp import Client, types
from mcp.client._transport import TransportStreams
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.exceptions import MCPError
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from agents.mcp import handlers
from agents.mcp.errors import Refusal, ServerFailed
from agents.mcp.link import lists
from agents.mcp.link.remote import HTTP, SSE, Remote
from agents.mcp.link.sieve import sifted
from agents.mcp.link.stdio import Program
from agents.mcp.link.words import TooNew, explained
from sessions.store.sessions import VERSION

if TYPE_CHECKING:
    from agents.mcp.connection import Connection

Streams = AbstractAsyncContextManager[TransportStreams]
Ended = Callable[[Client], Awaitable[str]]

LISTEN_SECONDS = 5.0
"""Between two subscriptions, where a server ends them."""
RELIST_SECONDS = 0.1
"""A server that tells of many changes at once is asked once."""
_CHANGED = (
    types.ToolListChangedNotification,
    types.PromptListChangedNotification,
    types.ResourceListChangedNotification,
)

for _name in ("mcp", "client"):  # what it would log is in the state and the log of the connection
    logging.getLogger(_name).setLevel(logging.CRITICAL)


class _Lost(ServerFailed):
    """It was there."""


async def hold(connection: Connection) -> NoReturn:
    """Connect, and hold the connection until it ends. Raises ServerFailed, or Refusal."""
    live = _remote if connection.server.kind == "remote" else _local
    try:
        await live(connection, "legacy")
    except TooNew:
        await live(connection, "auto")


async def _local(connection: Connection, mode: str) -> NoReturn:
    program = await Program.start(connection.server, connection.root, connection.log)
    try:
        await _serve(connection, mode, program.streams(), program.ended)
    except TooNew:
        raise
    except ServerFailed as failure:
        reason = await program.reason(str(failure))
        connection.lost(reason)  # before it is ended, which may take seconds
        raise ServerFailed(reason) from failure
    finally:
        await program.end()


async def _remote(connection: Connection, mode: str) -> NoReturn:
    """Streamable HTTP, and where that fails the older transport."""
    problems = []
    for kind in (HTTP, SSE):
        remote = Remote(connection.server, kind)
        try:
            await _serve(connection, mode, remote.streams(), remote.ended)
        except TooNew:
            raise
        except ServerFailed as failure:
            if isinstance(failure, _Lost):
                raise
            problems.append(f"{kind}: {remote.reason(str(failure))}")
    raise ServerFailed("\n".join(problems))


async def _serve(connection: Connection, mode: str, streams: Streams, ended: Ended) -> NoReturn:
    """`mode` as the SDK's client takes it: a handshake first is what every server understands but those that
    know nothing older than 2026. Raises ServerFailed with the rest of a sentence, or Refusal."""
    patience = connection.server.start_timeout
    reason = f"did not introduce itself within {patience:g} s"
    kind = ServerFailed
    try:
        with anyio.CancelScope(deadline=anyio.current_time() + patience) as scope:
            news = asyncio.Event()
            async with _client(connection, mode, streams, news) as client:
                offers = await lists.read(client, connection.log)
                scope.deadline = math.inf
                kind = _Lost
                connection.connected(client, offers)
                reason = await _follow(connection, client, news, ended)
    except Exception as error:
        failure = explained(error)
        if isinstance(failure, Refusal | TooNew):
            raise failure from error
        if kind is _Lost:
            connection.lost(str(failure))
        raise kind(str(failure)) from error
    finally:
        connection.lost("")
    raise kind(reason)


async def _follow(connection: Connection, client: Client, news: asyncio.Event, ended: Ended) -> str:
    """Read again what changes, until the server is gone; why it is."""
    async with anyio.create_task_group() as group:
        group.start_soon(_relist, connection, client, news)
        if client.protocol_version in MODERN_PROTOCOL_VERSIONS:
            group.start_soon(_subscribe, client, news)
        reason = await ended(client)
        connection.lost(reason)
        group.cancel_scope.cancel()
    return reason


async def _relist(connection: Connection, client: Client, news: asyncio.Event) -> NoReturn:
    while True:
        await news.wait()
        await anyio.sleep(RELIST_SECONDS)
        news.clear()
        try:
            with anyio.fail_after(connection.server.timeout):
                connection.relisted(await lists.read(client, connection.log))
        except (MCPError, TimeoutError) as error:
            connection.log.say(f"[what it offers now is not known] {error}")


async def _subscribe(client: Client, news: asyncio.Event) -> None:
    """Servers of 2026 tell only those of changes who ask (MCP 2026-07-28, `subscriptions/listen`)."""
    with suppress(MCPError):  # it tells of none
        while True:
            with suppress(SubscriptionLost):
                async with client.listen(
                    tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True
                ) as changes:
                    async for _ in changes:
                        news.set()
            await anyio.sleep(LISTEN_SECONDS)
            news.set()


def _client(connection: Connection, mode: str, streams: Streams, news: asyncio.Event) -> Client:
    async def elicit(context: Any, params: types.ElicitRequestParams) -> Any:
        return await handlers.elicit(connection, params)

    async def sample(context: Any, params: types.CreateMessageRequestParams) -> Any:
        return await handlers.sample(connection, params)

    async def roots(context: Any) -> Any:
        return await handlers.roots(connection)

    async def logged(params: types.LoggingMessageNotificationParams) -> None:
        connection.log.say(f"[{params.level}] {params.data}")

    async def told(message: Any) -> None:
        if isinstance(message, _CHANGED):
            news.set()

    return Client(
        sifted(streams, connection.log),
        mode=mode,
        cache=None,
        client_info=types.Implementation(name="opencode", version=VERSION),
        elicitation_callback=elicit,
        sampling_callback=sample if connection.server.sampling else None,
        list_roots_callback=roots,
        logging_callback=logged,
        message_handler=told,
    )

"""One life of a connection: connect, list, follow, until the server is gone."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, suppress
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import anyio
import httpx2
from mcp import Client, types
from mcp.client import advertise
from mcp.client._transport import TransportStreams
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.exceptions import MCPError
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, ValidationError

from agents.servers.mcp import apps, handlers
from agents.servers.mcp.errors import Refusal, ServerFailed
from agents.servers.mcp.link.remote import HTTP, SSE, Remote, sifted
from agents.servers.mcp.link.stdio import Program
from agents.servers.mcp.server import Offers
from agents.toolkit.children.child import Tail
from sessions.core.sentences import Sentence, joined, sentence_of
from sessions.core.text import error_text
from sessions.core.wire.version import VERSION

if TYPE_CHECKING:
    from agents.servers.mcp.connection import Connection


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
        reason = await program.reason(sentence_of(failure))
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
            problems.append(joined((kind, remote.reason(sentence_of(failure))), ": "))
    raise ServerFailed(joined(problems, "\n"))


async def _serve(connection: Connection, mode: str, streams: Streams, ended: Ended) -> NoReturn:
    """`mode` as the SDK's client takes it: a handshake first is what every server understands but those that
    know nothing older than 2026. Raises ServerFailed with the rest of a sentence, or Refusal."""
    patience = connection.server.start_timeout
    reason: str = Sentence("did not introduce itself within %(seconds)s s", seconds=f"{patience:g}")
    kind = ServerFailed
    try:
        with anyio.CancelScope(deadline=anyio.current_time() + patience) as scope:
            news = asyncio.Event()
            async with _client(connection, mode, streams, news) as client:
                offers = await read(client, connection.log)
                scope.deadline = math.inf
                kind = _Lost
                connection.connected(client, offers)
                reason = await _follow(connection, client, news, ended)
    except Exception as error:
        failure = explained(error)
        if isinstance(failure, Refusal):
            connection.refused(failure)  # before the calls in flight are told that it is gone
        if isinstance(failure, Refusal | TooNew):
            raise failure from error
        if kind is _Lost:
            connection.lost(sentence_of(failure))
        raise kind(sentence_of(failure)) from error
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
                connection.relisted(await read(client, connection.log))
        except (MCPError, TimeoutError) as error:
            connection.log.say(f"[what it offers now is not known] {error_text(error)}")


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
        extensions=[advertise(apps.EXTENSION, {"mimeTypes": [apps.MIME]})]
        if connection.server.apps
        else None,
        logging_callback=logged,
        message_handler=told,
    )


# Reading what a server offers: page by page, bounded. Wrong entries never come here (`sieve.py`).

MOST = 1000
"""Of tools, and of each other kind."""
MOST_BYTES = 4 * 1024 * 1024
"""Of JSON, for each kind."""
_MOST_PAGES = 200
_MOST_INSTRUCTIONS = 64 * 1024

M = TypeVar("M", bound=BaseModel)


async def read(client: Client, log: Tail) -> Offers:
    """All that the server says it has. Raises MCPError when it does not list its tools."""
    has = client.server_capabilities
    tools = await _all(client.list_tools, "tools", types.Tool, log) if has.tools else ()
    prompts = await _tried(client.list_prompts, "prompts", types.Prompt, log) if has.prompts else ()
    resources: tuple[types.Resource, ...] = ()
    templates: tuple[types.ResourceTemplate, ...] = ()
    if has.resources:
        resources = await _tried(client.list_resources, "resources", types.Resource, log)
        listed = client.list_resource_templates
        templates = await _tried(listed, "resource_templates", types.ResourceTemplate, log)
    info = client.server_info
    return Offers(
        tools,
        prompts,
        resources,
        templates,
        (client.instructions or "")[:_MOST_INSTRUCTIONS],
        f"{info.name} {info.version}".strip() if info else "",
    )


async def _tried(
    listed: Callable[..., Awaitable[Any]], field: str, kind: type[M], log: Tail
) -> tuple[M, ...]:
    """A server may announce what it then does not serve; its tools are of use all the same."""
    try:
        return await _all(listed, field, kind, log)
    except (MCPError, ValidationError) as error:
        log.say(f"[{field} are not listed] {error_text(error)}")
        return ()


async def _all(listed: Callable[..., Awaitable[Any]], field: str, kind: type[M], log: Tail) -> tuple[M, ...]:
    found: list[M] = []
    size = 0
    async for page in _pages(listed):
        for item in getattr(page, field):
            size += len(item.model_dump_json())
            if len(found) == MOST or size > MOST_BYTES:
                log.say(f"[{field} left out] after {len(found)}: there are more than {_bounds()}")
                return tuple(found)
            found.append(item)
    return tuple(found)


async def _pages(listed: Callable[..., Awaitable[Any]]) -> AsyncIterator[Any]:
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        page = await listed(cursor=cursor)
        yield page
        if page.next_cursor in (None, cursor):
            return
        cursor = page.next_cursor


def _bounds() -> str:
    return f"{MOST}, or {MOST_BYTES >> 20} MB of them"


# What went wrong, in words: the rest of a sentence about the server.


class TooNew(ServerFailed):
    """The server knows no `initialize`: it speaks the protocol of 2026 only."""


def explained(error: BaseException) -> ServerFailed | Refusal:
    """The SDK raises groups of groups: of all that is in them, what says most."""
    leaves = list(_leaves(error))
    for leaf in leaves:
        if isinstance(leaf, ServerFailed | Refusal):
            return leaf
        if isinstance(leaf, MCPError) and leaf.code == types.UNSUPPORTED_PROTOCOL_VERSION:
            return TooNew(_words(leaf))
    return ServerFailed(_words(next((leaf for leaf in leaves if not _is_ending(leaf)), error)))


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _is_ending(error: BaseException) -> bool:
    return isinstance(error, asyncio.CancelledError)


def _words(error: BaseException) -> str:
    text = error_text(error)
    if isinstance(error, MCPError):
        return Sentence("answered with an error: %(error)s", error=text)
    if isinstance(error, ValidationError):
        return Sentence(
            "answered what MCP does not allow: %(count)s errors in %(title)s",
            count=error.error_count(),
            title=error.title,
        )
    if isinstance(error, httpx2.HTTPStatusError):
        status = f"{error.response.status_code} {error.response.reason_phrase}"
        return Sentence("answered with %(status)s", status=status)
    if isinstance(error, httpx2.TransportError):
        return Sentence("cannot be reached: %(error)s", error=text)
    return f"{type(error).__name__}: {text}"

"""A server at a URL: streamable HTTP, or SSE as servers before 2025 have it (MCP, "Transports")."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio
import httpx2
from mcp import Client, types
from mcp.client._transport import TransportStreams
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp.types import methods
from mcp.types.version import LATEST_MODERN_VERSION
from pydantic import ValidationError

from agents.llm import tls
from agents.llm.bounded import hold
from agents.servers.mcp.oauth.provider import provider_for
from agents.servers.mcp.server import Server
from agents.toolkit.children.child import Tail
from sessions.core.sentences import Sentence, joined

HTTP, SSE = "streamable HTTP", "SSE"

MAX_MESSAGE = 16 * 1024 * 1024
"""Bytes."""
BEAT_SECONDS = 30.0
"""Between two looks whether the server is still there: nothing else would show it."""
_CONNECT_SECONDS = 30.0
_CLOSED = -32000
_SESSION = "mcp-session-id"
_VAGUE = ("Server returned an error response", "Not Found", "Session terminated")
"""What the SDK says for a status."""


class TooLong(httpx2.TransportError):
    """An answer over the bound."""


class Remote:
    """One try to reach a server, by `kind`."""

    def __init__(self, server: Server, kind: str) -> None:
        self._server = server
        self._kind = kind
        self._auth = provider_for(server)
        self._status = ""
        """Of the last answer that was an error; empty after a good one."""
        self._over = asyncio.Event()
        self._why: str = Sentence("ended the connection")

    @asynccontextmanager
    async def streams(self) -> AsyncIterator[TransportStreams]:
        """As the SDK's client wants them. It follows redirects within the origin only."""
        async with self._transport() as (read, write):
            yield _Watched(read, self._over), write

    def reason(self, failure: str) -> str:
        """The failure, with the status of the answer, which the SDK keeps for itself."""
        if not self._status or self._status in failure:
            return failure
        vague = failure.endswith(_VAGUE)
        if vague:
            return Sentence("answered with %(status)s", status=self._status)
        return joined((failure, f"({self._status})"), " ")

    async def ended(self, client: Client) -> str:
        """Until the server does not know us any longer, or is not there; which of them. Raises Refusal."""
        while not self._over.is_set():
            try:
                async with asyncio.timeout(BEAT_SECONDS):
                    await self._over.wait()
            except TimeoutError:
                await self._look(client)
        if self._auth is not None and self._auth.refusal is not None:
            raise self._auth.refusal  # of an answer that nobody waited for
        return self._why

    async def _look(self, client: Client) -> None:
        """Any answer will do. (Where nobody listens the SDK raises, and takes the connection down.)"""
        try:
            with anyio.fail_after(self._server.timeout):
                await client.session.send_ping()
        except TimeoutError:
            self._end(Sentence("did not answer a ping"))
        except MCPError as error:
            if error.code == _CLOSED:
                self._over.set()

    @asynccontextmanager
    async def _transport(self) -> AsyncIterator[Any]:
        if self._kind == SSE:
            async with sse_client(self._server.url, httpx_client_factory=self._factory) as streams:
                yield streams
        else:
            async with (
                self._factory() as http,
                streamable_http_client(
                    self._server.url, http_client=http, max_sse_event_size=MAX_MESSAGE
                ) as streams,
            ):
                yield streams

    def _factory(self, *_: Any, **__: Any) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            headers={"accept-encoding": "gzip", **dict(self._server.headers)},
            auth=self._auth,
            timeout=httpx2.Timeout(_CONNECT_SECONDS, read=None),
            event_hooks={"response": [self._answered]},
            verify=tls.context(),
        )

    def _end(self, why: str) -> None:
        self._why = why
        self._over.set()

    async def _answered(self, response: httpx2.Response) -> None:
        stream = response.headers.get("content-type", "").startswith("text/event-stream")
        hold(response, None if stream else MAX_MESSAGE, TooLong)
        if response.request.method != "POST" and self._kind == HTTP:
            return  # a server need not have the stream that it is asked for, nor an end of its sessions
        self._status = ""
        if response.status_code >= 400:
            self._status = f"{response.status_code} {response.reason_phrase}"
            if response.status_code == 404 and _SESSION in response.request.headers:
                self._end(Sentence("has forgotten the session"))


class _Watched:
    """The SDK's read stream, which tells of its end."""

    def __init__(self, stream: Any, over: asyncio.Event) -> None:
        self._stream = stream
        self._over = over

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def __aenter__(self) -> _Watched:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._stream.__aexit__(*error)

    def __aiter__(self) -> _Watched:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self._stream.__anext__()
        except StopAsyncIteration:
            self._over.set()
            raise


# Between the SDK's client and a server: of the lists that it gives, what MCP does not allow is left out.
#
# The SDK takes a page or refuses it as one, also where it lists tools by itself before a call; a server with
# one entry that is wrong would be of no use at all.

_FIELDS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}
_SHOWN = 200
"""Characters of a name and of what is wrong, in the log."""
_MOST_SAID = 10
"""Of one page."""


@asynccontextmanager
async def sifted(
    streams: AbstractAsyncContextManager[TransportStreams], log: Tail
) -> AsyncIterator[TransportStreams]:
    """The same streams; `log` is told what is left out."""
    async with streams as (read, write):
        sieve = Sieve(log)
        yield _Read(read, sieve), _Write(write, sieve)


class Sieve:
    """Knows which answers are lists."""

    def __init__(self, log: Tail) -> None:
        self._log = log
        self._version = LATEST_MODERN_VERSION
        """Of servers that know nothing older; the others say theirs when they introduce themselves."""
        self._asked: dict[Any, str] = {}
        """The methods that matter, by the request's id."""

    def ask(self, message: Any) -> None:
        if isinstance(message, types.JSONRPCRequest) and message.method in (*_FIELDS, "initialize"):
            self._asked[message.id] = message.method

    def take(self, message: Any) -> None:
        """Changes the answer in place."""
        method = self._asked.pop(message.id, "") if hasattr(message, "id") else ""
        if not method or not isinstance(message, types.JSONRPCResponse):
            return
        if method == "initialize":
            self._version = str(message.result.get("protocolVersion", self._version))
            return
        field = _FIELDS[method]
        if field == "tools":
            for item in _list(message.result.get(field)):
                _mend(item)
        for _ in range(2):  # what the version allows, and then what the SDK reads
            items = message.result.get(field)
            if not isinstance(items, list) or not (wrong := self._wrong(method, message.result)):
                return
            self._say(field, items, wrong)
            message.result[field] = [item for place, item in enumerate(items) if place not in wrong]

    def _wrong(self, method: str, page: dict[str, Any]) -> dict[int, str]:
        """What is wrong with entries, by their place."""
        try:
            methods.parse_server_result(method, self._version, page)
        except ValidationError as error:
            found = [(each["loc"], each["msg"]) for each in error.errors(include_url=False)]
            return {
                where[1]: f"{'.'.join(map(str, where[2:]))}: {words}".removeprefix(": ")
                for where, words in reversed(found)
                if len(where) > 1 and where[0] == _FIELDS[method] and isinstance(where[1], int)
            }
        except (KeyError, ValueError):
            pass  # a version that the SDK refuses
        return {}

    def _say(self, field: str, items: list[Any], wrong: dict[int, str]) -> None:
        for place, words in sorted(wrong.items())[:_MOST_SAID]:
            item = items[place]
            name = str(item.get("name", "")) if isinstance(item, dict) else ""
            what = f"{name[:_SHOWN]!r}" if name else f"number {place + 1}"
            self._log.say(f"[of its {field}, {what} is left out] {words[:_SHOWN]}")
        if len(wrong) > _MOST_SAID:
            self._log.say(f"[of its {field}, {len(wrong) - _MOST_SAID} more are left out]")


def _mend(tool: Any) -> None:
    """Arguments that are no object by what is said of them, but not something else either, are one: the
    protocol wants `"type": "object"`, and servers leave it away. Changes the tool in place."""
    if not isinstance(tool, dict):
        return
    schema = {} if tool.get("inputSchema") is True else tool.get("inputSchema")
    if not isinstance(schema, dict):
        return
    kind = schema.get("type", "object")
    if kind == "object" or (isinstance(kind, list) and "object" in kind):
        tool["inputSchema"] = {**schema, "type": "object"}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


class _Stream:
    """The SDK's, but for what passes."""

    def __init__(self, stream: Any, sieve: Sieve) -> None:
        self._stream = stream
        self._sieve = sieve

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def __aenter__(self) -> Any:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._stream.__aexit__(*error)


class _Read(_Stream):
    def __aiter__(self) -> _Read:
        return self

    async def __anext__(self) -> Any:
        return self._passed(await self._stream.__anext__())

    async def receive(self) -> Any:
        return self._passed(await self._stream.receive())

    def _passed(self, item: Any) -> Any:
        if isinstance(item, SessionMessage):
            self._sieve.take(item.message)
        return item


class _Write(_Stream):
    async def send(self, item: SessionMessage) -> None:
        self._sieve.ask(item.message)
        await self._stream.send(item)

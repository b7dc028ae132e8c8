"""A server at a URL: streamable HTTP, or SSE as servers before 2025 have it (MCP, "Transports")."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
from mcp import Client
from mcp.client._transport import TransportStreams
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from agents.bounded import hold
from agents.mcp.oauth.provider import provider_for
from agents.mcp.server import Server

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
        self._why = "ended the connection"

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
        return f"answered with {self._status}" if vague else f"{failure} ({self._status})"

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
            self._end("did not answer a ping")
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
                self._end("has forgotten the session")


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

"""Passes a request or a socket on to another server, and what comes back to who asked.

As it is: bodies and streams in both directions go piece by piece, compressed as they were. What is to be
another there or on its way back is the caller's: in the headers that it gives, by the `send` that it gives.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Collection, Coroutine
from contextlib import suppress
from typing import Any

import aiohttp
from aiohttp import WSMsgType
from multidict import CIMultiDict
from yarl import URL

from opencode_web.site.security.asgi import Receive, Scope, Send

logger = logging.getLogger(__name__)

CONNECT_SECONDS = 3.0
_OF_A_HOP = frozenset(
    {
        *(b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"te", b"trailer"),
        *(b"transfer-encoding", b"upgrade", b"expect"),
    }
)
"""RFC 9110, 7.6.1: what is said to the next one and not farther."""
_CLOSED = (WSMsgType.CLOSE, WSMsgType.CLOSING, WSMsgType.CLOSED, WSMsgType.ERROR)
GOING_AWAY = 1001
"""How a socket is closed whose other end is not there (RFC 6455, 7.4.1)."""


class Unreachable(Exception):
    """The server does not answer."""


class NotConnected(Unreachable):
    """Nobody listens there: nothing of the request was read."""


class Forwarder:
    """`most` are connections at once, 0 any number; `largest` the bytes of a message of a socket from there,
    0 any. Call `close` at the end."""

    def __init__(self, most: int = 0, largest: int = 0) -> None:
        self._most = most
        self._largest = largest
        self._client: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()

    def _session(self) -> aiohttp.ClientSession:
        if self._client is None:
            self._client = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=self._most),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
            )
        return self._client

    async def request(
        self,
        url: URL,
        headers: CIMultiDict[str],
        scope: Scope,
        receive: Receive,
        send: Send,
        without: Collection[bytes] = (),
    ) -> None:
        """`without` are headers of the answer that are not passed back. Raises Unreachable before anything
        was answered, and NotConnected before anything was asked."""
        has_body = "content-length" in headers or scope["method"] not in ("GET", "HEAD")
        body = _body(receive) if has_body else None
        try:
            answer = await self._session().request(
                scope["method"], url, headers=headers, data=body, allow_redirects=False
            )
        except aiohttp.ClientConnectorError as error:
            raise NotConnected(str(error)) from error
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise Unreachable(str(error)) from error
        async with answer:
            await _until_one_ends(_pass_back(answer, send, without), _disconnected(receive))

    async def socket(
        self, url: URL, headers: CIMultiDict[str], scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Closes a socket that is not opened there."""
        await receive()  # websocket.connect
        try:
            there = await self._session().ws_connect(
                url,
                headers=headers,
                protocols=scope.get("subprotocols") or (),
                max_msg_size=self._largest,
                compress=0,
            )
        except aiohttp.WSServerHandshakeError:
            await send({"type": "websocket.close", "code": 4403})
            return
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            logger.info("no socket at %s: %s", url.host, error)
            await send({"type": "websocket.close", "code": GOING_AWAY})
            return
        async with there:
            await send({"type": "websocket.accept", "subprotocol": there.protocol})
            await _until_one_ends(_up(there, receive), _down(there, send))


def carried(scope: Scope, without: Collection[bytes]) -> CIMultiDict[str]:
    """The headers of a request that go on with it; `without` are names in small letters."""
    headers: CIMultiDict[str] = CIMultiDict()
    for name, value in scope["headers"]:
        if name not in _OF_A_HOP and name not in without and not name.startswith(b"sec-websocket-"):
            headers.add(name.decode("latin-1"), value.decode("latin-1"))
    return headers


def target(scope: Scope) -> str:
    """The path as it was written, with its query."""
    path = scope.get("raw_path") or URL.build(path=scope["path"]).raw_path.encode()
    query = scope.get("query_string", b"")
    return (path + (b"?" + query if query else b"")).decode("latin-1")


async def _until_one_ends(*ways: Coroutine[Any, Any, None]) -> None:
    """The others are cancelled then. Raises what the one raised."""
    tasks = [asyncio.ensure_future(way) for way in ways]
    try:
        ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in ended:
        task.result()


async def _body(receive: Receive) -> AsyncIterator[bytes]:
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise aiohttp.ClientConnectionError("who asked is gone")
        if piece := message.get("body", b""):
            yield piece
        more = message.get("more_body", False)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _pass_back(answer: aiohttp.ClientResponse, send: Send, without: Collection[bytes]) -> None:
    headers = [
        (name.lower(), value)
        for name, value in answer.raw_headers
        if name.lower() not in _OF_A_HOP and name.lower() not in without
    ]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    with suppress(aiohttp.ClientError, OSError):  # the end comes early; a stream's client asks again
        async for piece in answer.content.iter_any():
            await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _up(there: aiohttp.ClientWebSocketResponse, receive: Receive) -> None:
    while True:
        message = await receive()
        if message["type"] != "websocket.receive":
            await there.close(code=message.get("code") or 1000)
            return
        if message.get("text") is not None:
            await there.send_str(message["text"])
        else:
            await there.send_bytes(message["bytes"])


async def _down(there: aiohttp.ClientWebSocketResponse, send: Send) -> None:
    async for message in there:
        if message.type in _CLOSED:
            break
        kind = "text" if message.type is WSMsgType.TEXT else "bytes"
        await send({"type": "websocket.send", kind: message.data})
    await send({"type": "websocket.close", "code": there.close_code or GOING_AWAY})

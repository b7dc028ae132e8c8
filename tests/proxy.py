"""A reverse proxy of one host: it leads what is below a path to a server, path and Host as they are, and
nothing else anywhere."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Self

from aiohttp import ClientSession, ClientTimeout, ClientWebSocketResponse, WSMsgType, web
from multidict import CIMultiDict

HOP = frozenset("connection keep-alive te trailer transfer-encoding upgrade".split())
"""Headers of one connection (RFC 9110 §7.6.1)."""
_SOCKET = frozenset(
    "sec-websocket-key sec-websocket-version sec-websocket-extensions sec-websocket-protocol".split()
)
_NO_LIMIT = ClientTimeout(total=None)


class Proxy:
    """`upstream` is the origin it leads to; `strays` are the paths that were asked for and are not below
    `path`."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.upstream = ""
        self.strays: list[str] = []

    async def __aenter__(self) -> Self:
        self._client = ClientSession(auto_decompress=False, timeout=_NO_LIMIT)
        application = web.Application(client_max_size=2**26)
        application.router.add_route("*", "/{rest:.*}", self._answer)
        self._runner = web.AppRunner(application, shutdown_timeout=0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.host = "127.0.0.1:{}".format(*self._runner.addresses[0][1:])
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()
        await self._runner.cleanup()

    @property
    def url(self) -> str:
        """Of the server, as those in front of the proxy know it."""
        return f"http://{self.host}{self.path}"

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        if request.path != self.path and not request.path.startswith(f"{self.path}/"):
            self.strays.append(request.path)
            return web.Response(status=404, text="something else lives here")
        headers = CIMultiDict(
            (name, value)
            for name, value in request.headers.items()
            if name.lower() not in HOP | _SOCKET | {"x-forwarded-for", "x-forwarded-proto"}
        )
        headers.update({"X-Forwarded-For": str(request.remote), "X-Forwarded-Proto": "http"})
        address = f"{self.upstream}{request.raw_path}"
        if request.headers.get("Upgrade", "").lower() == "websocket":
            return await self._join(request, address, headers)
        return await self._pass_on(request, address, headers)

    async def _pass_on(
        self, request: web.Request, address: str, headers: CIMultiDict[str]
    ) -> web.StreamResponse:
        async with self._client.request(
            request.method, address, headers=headers, data=await request.read(), allow_redirects=False
        ) as answer:
            given = CIMultiDict(pair for pair in answer.headers.items() if pair[0].lower() not in HOP)
            response = web.StreamResponse(status=answer.status, headers=given)
            with suppress(ConnectionError):  # who asked is gone
                await response.prepare(request)
                async for chunk in answer.content.iter_any():
                    await response.write(chunk)
        return response

    async def _join(
        self, request: web.Request, address: str, headers: CIMultiDict[str]
    ) -> web.StreamResponse:
        async with self._client.ws_connect(address, headers=headers, max_msg_size=0) as behind:
            before = web.WebSocketResponse(max_msg_size=0)
            await before.prepare(request)
            ways = [asyncio.create_task(_carry(before, behind)), asyncio.create_task(_carry(behind, before))]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                way.cancel()
            with suppress(ConnectionError):
                await before.close(code=behind.close_code or 1000)
            return before


_End = web.WebSocketResponse | ClientWebSocketResponse


async def _carry(one: _End, other: _End) -> None:
    async for message in one:
        if message.type is WSMsgType.TEXT:
            await other.send_str(message.data)
        elif message.type is WSMsgType.BINARY:
            await other.send_bytes(message.data)

"""A web server on loopback that gives one text at every path, or an error, or no answer at all."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Self

from tests.loopback.wire import HttpRequest, read_request, response

PLAIN = {"content-type": "text/plain"}


class TextServer:
    """`text`, `status` and `silent` may be changed while it runs; requests are in `requests`."""

    def __init__(self, text: str = "", *, status: int = 200, silent: bool = False, port: int = 0) -> None:
        self.text = text
        self.status = status
        self.silent = silent
        self.requests: list[HttpRequest] = []
        self._port = port
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def port(self) -> int:
        return self._port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/rules.md"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while request := await read_request(reader):
                self.requests.append(request)
                if not self.silent:
                    writer.write(self._answer(request))
                    await writer.drain()
        self._connections.discard(task)
        writer.close()

    def _answer(self, request: HttpRequest) -> bytes:
        tag = f'"{hash(self.text)}"'
        if self.status == 200 and request.headers.get("if-none-match") == tag:
            return response(304, "", PLAIN)
        return response(self.status, self.text, {**PLAIN, "etag": tag})

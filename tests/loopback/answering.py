"""A server on loopback that answers one request after the other, each as its class says."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from contextlib import suppress
from typing import Self

from tests.loopback.wire import HttpRequest, read_request


class AnsweringServer(ABC):
    """It runs as long as it is entered."""

    def __init__(self, port: int = 0) -> None:
        self._port = port
        self._connections: set[asyncio.Task[None]] = set()

    @abstractmethod
    async def answer(self, request: HttpRequest) -> bytes:
        """A whole response; empty for none at all. Raises ConnectionError to close the connection instead."""

    @property
    def port(self) -> int:
        return self._port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

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
                writer.write(await self.answer(request))
                await writer.drain()
        self._connections.discard(task)
        writer.close()

"""An HTTP server on loopback that gives the answers it was told, in order, the last one for good."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Self

from tests.loopback.wire import response

JSON = {"content-type": "application/json"}


@dataclass(frozen=True)
class Answer:
    """`drop` closes the connection instead."""

    status: int = 200
    body: str = "{}"
    headers: Mapping[str, str] = field(default_factory=lambda: JSON)
    drop: bool = False


@dataclass(frozen=True)
class Request:
    """`target` has the query; header names are in lower case."""

    target: str
    headers: Mapping[str, str]
    body: bytes


class Answers:
    """Requests are in `requests`."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = list(answers)
        self.requests: list[Request] = []
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
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
            while True:
                self.requests.append(await _read(reader))
                answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
                if answer.drop:
                    break
                writer.write(response(answer.status, answer.body, dict(answer.headers)))
                await writer.drain()
        self._connections.discard(task)
        writer.close()


async def _read(reader: asyncio.StreamReader) -> Request:
    line, *fields = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").rstrip("\r\n").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
    return Request(line.split()[1], headers, await reader.readexactly(int(headers.get("content-length", 0))))

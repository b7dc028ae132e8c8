"""The scripted model server both protocols share: records requests, plays turns, obeys gates.

Besides the model's own path: `GET /v1/models`, `GET /_requests`, `POST /_gate/NAME` (opens a gate).
Runs on the loop of an `async with`, in a thread (`in_thread`), or as a process of its own (cli.py).
"""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, ClassVar, Self, TypeVar

from tests.loopback.gates import Gate, on_loop
from tests.loopback.pieces import Encoder
from tests.loopback.playback import play
from tests.loopback.record import ModelRequest, Record, asks_for_title
from tests.loopback.script import Body, Script, Turn, player
from tests.loopback.wire import HttpRequest, json_response, parse_object, read_request

T = TypeVar("T")


class LoopbackServer(ABC):
    """A model on 127.0.0.1 that answers `script`, and `title` to requests that ask for a title.

    `title=None` sends these through the script too. Requests are in `requests` and `titles`.
    """

    path: ClassVar[str]
    error_event: ClassVar[str] = ""

    def __init__(self, script: Script, *, title: str | None = "A title", port: int = 0) -> None:
        self._play = player(script)
        self._title = title
        self._port = port
        self._call_ids = itertools.count(1)
        self._gates: dict[str, Gate] = {}
        self._connections: set[asyncio.Task[None]] = set()
        self.record = Record()

    @abstractmethod
    def encoder(self, body: Body) -> Encoder:
        """The protocol's way to write the answer to one request."""

    @property
    def requests(self) -> list[ModelRequest]:
        return self.record.requests

    @property
    def titles(self) -> list[ModelRequest]:
        return self.record.titles

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def base_url(self) -> str:
        """What a provider's `baseURL` is set to."""
        return f"{self.url}/v1"

    def gate(self, name: str) -> Gate:
        """The gate that `Wait(name)` in a turn stands at."""
        return self._gates.setdefault(name, Gate(self._loop))

    def shut_gates(self) -> None:
        """For what is played from now on: gates that were opened stand shut."""
        self._gates.clear()

    async def wait_for_request(self, n: int = 1, within: float = 10.0) -> ModelRequest:
        """The n-th request of the script (from 1) once it has come; titles do not count."""
        await self._wait(lambda: len(self.requests) >= n, within)
        return self.requests[n - 1]

    async def wait_for_disconnect(self, n: int = 1, within: float = 10.0) -> None:
        """Return when the client has dropped `n` streams before their end."""
        await self._wait(lambda: sum(request.disconnected for request in self.requests) >= n, within)

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    @contextmanager
    def in_thread(self) -> Iterator[Self]:
        """Run on a loop in a thread of its own, for tests that have no loop; see `run`."""
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, name="loopback", daemon=True)
        thread.start()
        self._loop = loop
        try:
            self.run(self.__aenter__())
            try:
                yield self
            finally:
                self.run(self.__aexit__())
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    def run(self, work: Coroutine[Any, Any, T], within: float = 15.0) -> T:
        """Wait from another thread: `server.run(server.wait_for_request(2))`."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(within)

    async def _wait(self, met: Callable[[], bool], within: float) -> None:
        await asyncio.wait_for(on_loop(self._loop, self.record.wait(met)), within)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                while (request := await read_request(reader)) and await self._answer(request, reader, writer):
                    pass
        finally:
            self._connections.discard(task)
            writer.close()

    async def _answer(
        self, request: HttpRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Answer one request; True when the connection can carry another."""
        if (request.method, request.path) == ("POST", self.path):
            await self._complete(request, reader, writer)
            return False
        writer.write(self._answer_control(request))
        await writer.drain()
        return request.keep_alive

    def _answer_control(self, request: HttpRequest) -> bytes:
        match request.method, request.path.split("/")[1:]:
            case "GET", ["v1", "models"]:
                return json_response(200, {"object": "list", "data": [{"id": "fake", "object": "model"}]})
            case "GET", ["_requests"]:
                return json_response(200, self.record.as_json())
            case "POST", ["_gate", name]:
                self.gate(name).open()
                return json_response(200, True)
        return json_response(404, {"error": {"message": f"no {request.method} {request.path} here"}})

    async def _complete(
        self, request: HttpRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Play the turn while watching for a client that goes away."""
        try:
            seen = ModelRequest(parse_object(request.body), dict(request.headers), time.time_ns())
        except ValueError as error:
            writer.write(json_response(400, {"error": {"message": str(error)}}, {"connection": "close"}))
            return
        stream = play(self._turn(seen), self.encoder(seen.body), self.error_event, self.gate, writer)
        playing = asyncio.create_task(stream)
        gone = asyncio.create_task(reader.read())
        try:
            await asyncio.wait({playing, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not playing.done():
                raise ConnectionResetError("the client went away")
            await playing
        except ConnectionError:
            self.record.disconnected(seen)
        finally:
            playing.cancel()
            gone.cancel()

    def _turn(self, seen: ModelRequest) -> Turn:
        is_title = self._title is not None and asks_for_title(seen.body)
        self.record.add(seen, is_title=is_title)
        turn = Turn(text=self._title or "") if is_title else self._play(seen.body)
        tools = [dataclasses.replace(use, id=use.id or f"call_{next(self._call_ids)}") for use in turn.tools]
        return dataclasses.replace(turn, tools=tools)

"""The DevTools protocol of Chromium over two pipes: JSON texts that end with a NUL each."""

from __future__ import annotations

import asyncio
import json
import os
from asyncio.streams import FlowControlMixin
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

LARGEST = 64 * 1024 * 1024
"""Bytes of one message: a picture of a large page is one."""
CALL_SECONDS = 20.0
"""How long an answer may take."""

Json = Mapping[str, Any]
Heard = Callable[[str, str, Json], None]
"""Takes an event: the session that it is of, its name, what it says."""


class Failed(Exception):
    """Chromium refused a command; the text is what it said."""


class Unanswered(Exception):
    """No answer came in time: the page is busy, or holds still."""


class Ended(Exception):
    """Chromium is gone."""


class Pipes:
    """Two named pipes of a folder: any program that sees the folder can be given them, wherever it starts.
    They have no name any more once both ends are open."""

    def __init__(self, folder: Path) -> None:
        """Raises OSError. Blocks."""
        self.paths = folder / "commands", folder / "answers"
        for path in self.paths:
            os.mkfifo(path, 0o600)
        commands, answers = self.paths
        # Each is opened from both sides, so that neither end waits for the other or sees an early end.
        self._held = [os.open(commands, os.O_RDONLY | os.O_NONBLOCK)]
        self.writing = os.open(commands, os.O_WRONLY | os.O_NONBLOCK)
        self.reading = os.open(answers, os.O_RDONLY | os.O_NONBLOCK)
        self._held.append(os.open(answers, os.O_WRONLY | os.O_NONBLOCK))

    def open(self) -> None:
        """The other side has them: from here on its end is seen."""
        for place in self._held:
            os.close(place)
        self._held.clear()
        for path in self.paths:
            path.unlink(missing_ok=True)


class Link:
    """Of one event loop."""

    def __init__(self, heard: Heard) -> None:
        self._heard = heard
        self._count = 0
        self._waiting: dict[int, asyncio.Future[Json]] = {}
        self._reader = asyncio.StreamReader(limit=LARGEST)
        self._ends: list[asyncio.BaseTransport] = []
        self._writer: asyncio.WriteTransport | None = None
        self._listening: asyncio.Task[None] | None = None

    async def connect(self, pipes: Pipes) -> None:
        loop = asyncio.get_running_loop()
        reading = os.fdopen(pipes.reading, "rb", buffering=0)
        writing = os.fdopen(pipes.writing, "wb", buffering=0)
        end, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(self._reader), reading)
        self._writer, _ = await loop.connect_write_pipe(FlowControlMixin, writing)
        self._ends = [end, self._writer]
        self._listening = asyncio.create_task(self._listen())

    async def call(
        self, method: str, session: str = "", seconds: float | None = CALL_SECONDS, **params: Any
    ) -> Json:
        """Raises Failed, Unanswered (never where `seconds` is None) or Ended."""
        if self._writer is None or self._writer.is_closing():
            raise Ended
        self._count += 1
        number = self._count
        message = {"id": number, "method": method, "params": params}
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        self._writer.write(json.dumps(message | ({"sessionId": session} if session else {})).encode() + b"\0")
        try:
            async with asyncio.timeout(seconds):
                return await answer
        except TimeoutError as error:
            raise Unanswered(method) from error
        finally:
            del self._waiting[number]

    def tell(self, method: str, session: str = "", **params: Any) -> None:
        """A command whose answer nobody needs."""
        if self._writer is not None and not self._writer.is_closing():
            message = {"id": 0, "method": method, "params": params}
            given = message | ({"sessionId": session} if session else {})
            self._writer.write(json.dumps(given).encode() + b"\0")

    def close(self) -> None:
        """Whoever waits for an answer is told that there is none."""
        for end in self._ends:
            end.close()
        if self._listening is not None:
            self._listening.cancel()
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(Ended())

    async def _listen(self) -> None:
        try:
            with suppress(asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
                while True:
                    self._take(json.loads((await self._reader.readuntil(b"\0"))[:-1]))
        finally:
            self.close()

    def _take(self, message: Json) -> None:
        if "method" in message:
            self._heard(message.get("sessionId", ""), message["method"], message.get("params", {}))
            return
        answer = self._waiting.get(message.get("id", 0))
        if answer is None or answer.done():
            return
        if "error" in message:
            answer.set_exception(Failed(str(message["error"].get("message", ""))))
        else:
            answer.set_result(message.get("result", {}))

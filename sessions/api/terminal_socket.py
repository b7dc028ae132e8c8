"""The socket of a terminal, `/pty/{id}/connect` and `/api/pty/{id}/connect`, framed as OpenCode does.

Out: text frames with what is printed; a binary frame, a NUL and `{"cursor": N}`, says at which position the
reader is: after the replay, and after something was missed. In: what is typed, text or binary.
`?cursor=` is where the reader left off; -1 replays nothing. The guard has let the client in.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from channels.generic.websocket import AsyncWebsocketConsumer
from django.http import HttpRequest, QueryDict

from sessions.api.base import NotFound, directory_of
from sessions.core.sockets import FRAME_TIME, NOT_FOUND, UNAUTHORISED
from sessions.terminals.registry import terminals
from sessions.terminals.terminal import Reader, Terminal

MAX_INPUT = 1024 * 1024
"""Bytes that may wait for a program that does not read; more ends the connection."""
EXITED, TOO_MUCH, FAILED = NOT_FOUND, 4413, 4500

log = logging.getLogger(__name__)


class TerminalSocket(AsyncWebsocketConsumer):
    """One client of one terminal."""

    _tasks: tuple[asyncio.Task[None], ...] = ()
    _waiting = 0

    async def connect(self) -> None:
        await self.accept()
        if not self.scope.get("principal"):
            await self.close(code=UNAUTHORISED)
            return
        terminal = self._terminal()
        if terminal is None:
            await self.close(code=NOT_FOUND)
            return
        self._typed: asyncio.Queue[bytes] = asyncio.Queue()
        work = (self._show(terminal), self._type(terminal))
        self._tasks = tuple(asyncio.create_task(self._guarded(each)) for each in work)

    async def disconnect(self, code: int) -> None:
        for task in self._tasks:
            task.cancel()
        self._tasks = ()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if not self._tasks:
            return
        typed = bytes_data if bytes_data is not None else (text_data or "").encode()
        if self._waiting + len(typed) > MAX_INPUT:
            await self.disconnect(TOO_MUCH)
            await self.close(code=TOO_MUCH)
            return
        self._waiting += len(typed)
        self._typed.put_nowait(typed)

    def _terminal(self) -> Terminal | None:
        """Who asks in the first protocol does not see a terminal that has exited."""
        pty_id = self.scope["url_route"]["kwargs"]["pty_id"]
        try:
            found = terminals.get(_directory(self.scope), pty_id)
        except NotFound:
            return None
        shown = found and (found.exit_code is None or self.scope["path"].startswith("/api/"))
        return found if shown else None

    async def _guarded(self, work: Awaitable[None]) -> None:
        try:
            await work
        except Exception:
            log.exception("the socket of a terminal failed")
            await self.close(code=FAILED)

    async def _show(self, terminal: Terminal) -> None:
        code = 1000 if terminal.exit_code is None else EXITED
        with Reader(terminal, _cursor(self.scope, terminal)) as reader:
            for text in reader.replay():
                await self.send(text_data=text)
            await self._tell_position(reader)
            async for text, missed in reader.follow():
                await self.send(text_data=text)
                if missed:
                    await self._tell_position(reader)
                if not reader.behind:
                    await asyncio.sleep(FRAME_TIME)
        await self.close(code=code)

    async def _tell_position(self, reader: Reader) -> None:
        told = json.dumps({"cursor": reader.position}, separators=(",", ":"))
        await self.send(bytes_data=b"\0" + told.encode())

    async def _type(self, terminal: Terminal) -> None:
        while True:
            typed = await self._typed.get()
            await terminal.write(typed)
            self._waiting -= len(typed)


def _directory(scope: Any) -> Path:
    """By the query or the header, as in a request."""
    request = HttpRequest()
    request.GET = QueryDict(scope["query_string"])
    given = dict(scope["headers"]).get(b"x-opencode-directory", b"")
    request.META["HTTP_X_OPENCODE_DIRECTORY"] = given.decode("latin-1")
    return directory_of(request)


def _cursor(scope: Any, terminal: Terminal) -> int | None:
    given = parse_qs(scope["query_string"].decode("latin-1")).get("cursor", [""])[0]
    if given == "-1":
        return terminal.backlog.end
    return int(given) if given.isdecimal() and given.isascii() and len(given) < 16 else None


application = TerminalSocket.as_asgi()

"""Rule 6: a login that was ended opens nothing more, and what it has open is closed at once.

A cookie is good by its signature, so what is remembered are the ends. Rows hold them over a restart and for
other processes (`remember`, `learn`); what is asked with each request is in memory.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from opencode_web.site.security.asgi import Application, Message, Receive, Scope, Send
from opencode_web.site.security.cookies import LIFETIME, BrowserSession

EVERYTHING = "*"
CLOSED = 4401
"""Code of a socket whose login has ended."""


@dataclass(frozen=True, slots=True)
class End:
    """Of the login with this id, at a Unix time in seconds; or of all (`*`) of a generation before `at`."""

    id: str
    at: float


async def _forget(end: End) -> None:
    """For a guard without rows."""


class Logins:
    """Of one process; use it on the loop that serves. `remember` writes an end down."""

    def __init__(self, remember: Callable[[End], Awaitable[None]] = _forget) -> None:
        self._remember = remember
        self._ended: dict[str, float] = {}
        self._open: dict[str, set[_Open]] = {}

    def has_ended(self, session: BrowserSession) -> bool:
        return session.id in self._ended or session.generation < self.generation()

    def generation(self) -> float:
        """Of the logins that begin now. No clock is compared: one may be put back, and a login may begin in
        the moment in which all others end."""
        return self._ended.get(EVERYTHING, 0.0)

    async def end(self, session: BrowserSession) -> None:
        """From now on; the end is written down before this returns."""
        await self._end(End(session.id, time.time()))

    async def end_by_id(self, id: str) -> None:
        """The same for one of another browser, or for what a token has open."""
        await self._end(End(id, time.time()))

    def hang_up(self, id: str) -> None:
        """Close what one has open, which may come again."""
        for connection in list(self._open.get(id, ())):
            connection.hang_up()

    def names(self) -> list[str]:
        """Of all who have something open."""
        return list(self._open)

    def review(self, standing: Mapping[str, Any]) -> None:
        """Close what is open of somebody who is no longer who they were when it was opened: `standing` says
        by name who they are now, None for nobody. It may come again, as far as they may."""
        for name, now in standing.items():
            for connection in list(self._open.get(name, ())):
                if now is None or connection.person not in (None, now):
                    connection.hang_up()
                connection.person = now

    async def end_all(self) -> None:
        """Every login that there is."""
        await self._end(End(EVERYTHING, max(time.time(), self.generation() + 1)))

    async def _end(self, end: End) -> None:
        self.learn([end])
        await self._remember(end)

    def learn(self, ends: Iterable[End]) -> None:
        """Ends that other processes wrote down, or this one before it was started."""
        for end in ends:
            if self._ended.get(end.id, 0.0) < end.at:
                self._ended[end.id] = end.at
                self._hang_up(end)
        oldest = time.time() - LIFETIME
        self._ended = {id: at for id, at in self._ended.items() if at > oldest}

    def _hang_up(self, end: End) -> None:
        for id in [end.id] if end.id != EVERYTHING else list(self._open):
            for connection in list(self._open.get(id, ())):
                if end.id != EVERYTHING or self.has_ended(connection.session):
                    connection.hang_up()

    async def hold(
        self, session: BrowserSession, application: Application, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Run the application for as long as the login lasts: then it hears that the client is gone."""
        person = (scope["principal"] or {}).get("person")
        connection = _Open(session, receive, send, scope["type"] == "websocket", person)
        held = self._open.setdefault(session.id, set())
        held.add(connection)
        try:
            await application(scope, connection.receive, connection.send)
        finally:
            held.discard(connection)
            if not held:
                self._open.pop(session.id, None)
            await connection.finish()


class _Open:
    """A socket or a request of a login; `person` is who opened it, where that is known."""

    def __init__(
        self, session: BrowserSession, receive: Receive, send: Send, is_socket: bool, person: Any
    ) -> None:
        self.session = session
        self.person = person
        self._receive = receive
        self._send = send
        self._is_socket = is_socket
        self._ended = asyncio.Event()
        self._answering = False

    def hang_up(self) -> None:
        self._ended.set()

    async def receive(self) -> Message:
        ended = asyncio.ensure_future(self._ended.wait())
        coming = asyncio.ensure_future(self._receive())
        try:
            await asyncio.wait({ended, coming}, return_when=asyncio.FIRST_COMPLETED)
            if not self._ended.is_set():
                return coming.result()
            return {"type": "websocket.disconnect" if self._is_socket else "http.disconnect", "code": CLOSED}
        finally:
            ended.cancel()
            coming.cancel()

    async def send(self, message: Message) -> None:
        if self._ended.is_set() and self._answering:
            return
        await self._send(message)
        if message["type"] in ("http.response.start", "http.response.body"):
            self._answering = message["type"] == "http.response.start" or bool(message.get("more_body"))

    async def finish(self) -> None:
        """Close what the application left open."""
        if not self._ended.is_set():
            return
        with suppress(Exception):  # the client may be gone
            if self._is_socket:
                await self._send({"type": "websocket.close", "code": CLOSED})
            elif self._answering:
                await self._send({"type": "http.response.body", "body": b""})

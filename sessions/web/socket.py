"""The browser's socket: fragments of one project and one of its sessions, from events to frames.

`/ws/p/<project>/?session=<session>&since=<cursor>`; the guard has authenticated, here it is decided
whether this project and session may be watched.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs

from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.urls import path

from sessions.core import bus
from sessions.core.db import in_db
from sessions.core.principal import person_in
from sessions.core.sockets import FRAME_TIME, HEARTBEAT, NOT_FOUND, UNAUTHORISED
from sessions.core.store import inbox
from sessions.rendering.messages import Place
from sessions.web import access
from sessions.web.live.frames import Frame
from sessions.web.live.live import LivePage
from sessions.web.live.presence import presence
from sessions.web.roots import beside

log = logging.getLogger(__name__)

LARGEST_FRAME = 4 * 1024 * 1024
"""Characters, of four bytes at most: no WebSocket message may be larger (`site.server.MAX_MESSAGE`)."""


class PageSocket(AsyncWebsocketConsumer):
    """One browser tab."""

    _task: asyncio.Task[None] | None = None
    _told = 0.0
    """When anything was sent last."""

    async def connect(self) -> None:
        await self.accept()
        if not self.scope.get("principal"):
            await self.close(code=UNAUTHORISED)
            return
        query = parse_qs(self.scope["query_string"].decode("latin-1"))
        project_id, session_id = (
            self.scope["url_route"]["kwargs"]["project_id"],
            query.get("session", [""])[0],
        )
        project = await in_db(access.find_project, project_id)
        session = await in_db(access.find_session, project_id, session_id) if session_id else None
        if project is None or (session_id and session is None):
            await self.close(code=NOT_FOUND)
            return
        place = Place.of(session) if session else None
        if place and settings.PEOPLE:
            place = replace(place, senders=await in_db(inbox.senders, session_id))
        person = person_in(self.scope)
        name = person.name if person else ""
        page = LivePage(project_id, session_id, place, await beside(project, session), name)
        looks = presence.looks(session, name) if session and name else nullcontext()
        self._task = asyncio.create_task(self._run(page, looks, _cursor(query), loads="loads" in query))

    async def disconnect(self, code: int) -> None:
        if self._task is not None:
            self._task.cancel()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """A browser only listens; what it sends goes by HTTP, where the guard checks every request."""

    async def _run(
        self, page: LivePage, looks: AbstractContextManager[None], since: int, *, loads: bool
    ) -> None:
        try:
            with looks:
                await self._stream(page, since, loads=loads)
        except Exception:
            log.exception("the socket of a page failed")
            await self.close(code=1011)

    async def _stream(self, page: LivePage, since: int, *, loads: bool) -> None:
        async with bus.subscribe(wants=page.wants) as mailbox:
            await self._send(await page.catch_up(since, loads=loads))
            while not mailbox.overflowed:
                events = await mailbox.take(_patience(page))
                started = time.monotonic()
                if events:
                    await self._send(await page.apply(events))
                elif page.due_in() is not None:
                    await self._send(await page.poll())
                if time.monotonic() - self._told >= HEARTBEAT:
                    await self._tell("{}")
                await asyncio.sleep(max(0.0, FRAME_TIME - (time.monotonic() - started)))
            await self._send(Frame(refresh=True))

    async def _send(self, frame: Frame) -> None:
        if not frame:
            return
        text = frame.json()
        if len(text) > LARGEST_FRAME:  # the page reads the rows itself, which has no such bound
            text = Frame(refresh=True).json()
        await self._tell(text)

    async def _tell(self, text: str) -> None:
        self._told = time.monotonic()
        await self.send(text_data=text)


def _patience(page: LivePage) -> float:
    due = page.due_in()
    return HEARTBEAT if due is None else due


def _cursor(query: dict[str, list[str]]) -> int:
    since: Any = query.get("since", ["0"])[0]
    return int(since) if since.isdecimal() and len(since) < 19 else 0


_application: Any = PageSocket.as_asgi()  # `path` takes ASGI applications too, which its types do not say
websocket_urlpatterns = [path("ws/p/<str:project_id>/", _application)]

"""The inbox's socket, `/ws/inbox/`: what waits for the person, on every page, whatever it shows.

A message is the whole inbox (`Inbox.wire`), `rules` with the projects whose saved rules are others now, or
`servers`: how MCP or language servers stand is to be read again. An empty one is a heartbeat. The guard has
authenticated and checked the Origin, as for the socket of a page.
"""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

from channels.generic.websocket import AsyncWebsocketConsumer
from django.urls import path

from sessions.core import bus
from sessions.core.db import in_db
from sessions.core.sockets import HEARTBEAT, UNAUTHORISED

from .inbox import EVENTS, inbox

RULES = "permission.rules"
SERVERS = frozenset({"mcp.changed", "mcp.tools.changed", "lsp.updated"})
GATHER = 0.05
"""Seconds in which requests that come together become one message."""

log = logging.getLogger(__name__)


class InboxSocket(AsyncWebsocketConsumer):
    """One browser tab."""

    _task: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        await self.accept()
        if not self.scope.get("principal"):
            await self.close(code=UNAUTHORISED)
            return
        self._task = asyncio.create_task(self._run())

    async def disconnect(self, code: int) -> None:
        if self._task is not None:
            self._task.cancel()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """A browser only listens; answers go by HTTP, where the guard checks every request."""

    async def _run(self) -> None:
        try:
            await self._stream()
        except Exception:
            log.exception("the socket of the inbox failed")
            await self.close(code=1011)

    async def _stream(self) -> None:
        """Each message is read from the rows, now and then without an event too: what is lost costs time."""
        named: frozenset[str] = frozenset()
        sent = ""

        def wants(event: bus.Event) -> bool:
            named_here = event.type == "session.updated" and event.session_id in named
            return event.type in EVENTS or event.type == RULES or event.type in SERVERS or named_here

        async with bus.subscribe(wants=wants) as mailbox:
            while True:
                found = await in_db(inbox)
                named = found.sessions
                text = json.dumps(found.wire(), ensure_ascii=False)
                await self.send(text_data=text if text != sent else "{}")
                sent = text
                events = await mailbox.take(HEARTBEAT)
                if ruled := sorted({event.project_id for event in events if event.type == RULES}):
                    await self.send(text_data=json.dumps({"rules": ruled}))
                if mailbox.overflowed or any(event.type in SERVERS for event in events):
                    await self.send(text_data='{"servers": true}')
                mailbox.overflowed = False
                await asyncio.sleep(GATHER)


_application: Any = InboxSocket.as_asgi()  # `path` takes ASGI applications too, which its types do not say
websocket_urlpatterns = [path("ws/inbox/", _application)]

"""The socket of the overview: rows of sessions that are others than they were.

`/ws/overview/` takes the filter as the page has it. A message has `html` (rows), `gone` (ids that are not
shown any more) or `renew` (more happened than could be told). An empty one is a heartbeat. The guard has
authenticated and checked the Origin.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import parse_qsl

from django.urls import path

from sessions.core import bus
from sessions.core.db import in_db
from sessions.core.principal import person_in
from sessions.core.sockets import HEARTBEAT
from sessions.web.live.fragments import SIDEBAR_EVENTS
from sessions.web.overview import board
from sessions.web.telling import TellingSocket

GATHER = 0.5
"""Seconds in which what happens becomes one message: nobody reads thirty sessions faster."""
EVENTS = SIDEBAR_EVENTS | {"session.deleted", "session.diff", "todo.updated"}
_PART = "message.part.updated"
_SHOWN = ("tool", "text", "reasoning")


class Stages:
    """Which parts are further than they were: of a command's output not each line is news."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, str]] = {}

    def moves(self, event: bus.Event) -> bool:
        """Whether a part (`message.part.updated`) changes what its session does."""
        part = event.properties["part"]
        if part["type"] not in _SHOWN:
            return False
        ended = "ended" if (part.get("time") or {}).get("end") else "open"
        stage = part["id"], part["state"]["status"] if part["type"] == "tool" else ended
        changed = self._known.get(event.session_id) != stage
        self._known[event.session_id] = stage
        return changed


class OverviewSocket(TellingSocket):
    """One browser tab."""

    async def _stream(self) -> None:
        query = dict(parse_qsl(self.scope["query_string"].decode("latin-1")))
        shown, person, stages = board.Filter.of(query), person_in(self.scope), Stages()
        async with bus.subscribe(wants=lambda event: event.type in EVENTS or event.type == _PART) as mailbox:
            await self._tell({"ready": True})
            while True:
                events = await mailbox.take(HEARTBEAT)
                changed = {event.session_id for event in events if event.type != _PART or stages.moves(event)}
                if mailbox.overflowed:
                    mailbox.overflowed = False
                    await self._tell({"renew": True})
                elif changed:
                    lines = await in_db(board.read_some, shown, person, changed)
                    html, gone = await asyncio.to_thread(board.renewed, lines, shown)
                    await self._tell({"html": html, "gone": gone})
                elif not events:
                    await self._tell({})
                await asyncio.sleep(GATHER)

    async def _tell(self, message: dict[str, Any]) -> None:
        await self.send(text_data=json.dumps(message, ensure_ascii=False))


_application: Any = OverviewSocket.as_asgi()  # `path` takes ASGI applications too, which its types do not say
websocket_urlpatterns = [path("ws/overview/", _application)]

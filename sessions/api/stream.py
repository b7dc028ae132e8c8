"""`/event` and `/global/event`: everything that happens, as server-sent events framed as OpenCode does.

Every logged event has its `id:`, so a client that comes again with `Last-Event-ID` (every EventSource does)
or `?since=` is first sent what was logged after that cursor, and what it missed of texts that still stream.
`/global/event` says what changed sessions once more as `sync` events, as OpenCode does.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from django.http import HttpRequest, StreamingHttpResponse
from ninja import Router
from ninja.errors import HttpError

from sessions import bus
from sessions.api.base import directory_of, project_of
from sessions.api.described import answers
from sessions.api.open_texts import OpenTexts
from sessions.db import in_db
from sessions.ids import now
from sessions.projection import sync
from sessions.store import events as event_log
from sessions.store.replay import replay
from sessions.store.rows import worktree_of
from sessions.wire import ours
from sessions.wire.events import EventFrame, GlobalFrame

router = Router()

HEARTBEAT_SECONDS = 10.0
MOST_BYTES = 16 * 1024 * 1024
"""Of events that wait for a reader; one that is further behind is told so and cut off."""
INTERNAL = {
    "session.inbox",
    "review.changed",
    "permission.rules",
    "session.forked",
    "store.full",
    "mcp.changed",
    event_log.SETTLED,
}
"""Events of ours alone: clients of the protocol do not know them."""
SETTLED_MS = 60_000
"""How long a session's end is told to those who connect after it."""
DISPOSED = "server.instance.disposed"
RESYNC = "server.resync"
"""Ours: events are missing, so the client has to read again what it shows."""
NOW = "now"
GLOBAL = "global"
"""What stands for the folder of what concerns all of them, and the list of projects."""
FOREIGN = 2**62
"""What stands for a cursor of another server: one that the log has not come to."""


@router.get("/event", operation_id="event.subscribe")
@answers(EventFrame, media="text/event-stream")
async def subscribe(request: HttpRequest) -> StreamingHttpResponse:
    """`server.connected`, then the events of a folder, with a heartbeat when nothing happens. It ends with
    the folder's `server.instance.disposed`."""
    project = await project_of(request)
    since, again = await _cursor(request)
    stream = _Stream(project.id, str(directory_of(request)), since, again, ours.asked(request))
    return _response(stream.frames())


@router.get("/global/event", operation_id="global.event")
@answers(GlobalFrame, media="text/event-stream")
async def subscribe_global(request: HttpRequest) -> StreamingHttpResponse:
    """The events of all folders, each as `{"directory", "project", "payload"}`."""
    since, again = await _cursor(request)
    return _response(_Global("", "", since, again, ours.asked(request)).frames())


def _response(frames: AsyncIterator[bytes]) -> StreamingHttpResponse:
    response = StreamingHttpResponse(frames, content_type="text/event-stream")
    response["Cache-Control"] = "no-cache, no-transform"
    response["X-Accel-Buffering"] = "no"
    return response


async def _cursor(request: HttpRequest) -> tuple[int, bool]:
    """Where the client goes on, and whether it was here before. Raises HttpError (400)."""
    kept = request.headers.get("Last-Event-ID", "")
    given = kept or request.GET.get("since", "")
    if given.isdecimal() and len(given) < 19:
        return int(given), True
    if given and given != NOW:
        if not kept:
            raise HttpError(400, "since: it is no cursor of this server")
        return FOREIGN, True  # an EventSource gives up for good when it is refused
    return await in_db(event_log.latest), False


@dataclass
class _Stream:
    """What one client of `/event` is sent after its cursor `since`; `again`: it had events before. `own`: it
    wants what is ours."""

    project_id: str
    directory: str
    since: int
    again: bool
    own: bool
    _seen: int = 0
    _waiting: int = 0
    _mailbox: bus.Subscription = field(init=False)

    async def frames(self) -> AsyncIterator[bytes]:
        """What came meanwhile leaves in one piece; a reader too slow for its mailbox is told and cut off."""
        # Known before it stands: events come from any thread.
        self._mailbox = bus.subscribe(project=self.project_id or None, wants=self._wants)
        async with self._mailbox as mailbox:
            yield await self._frame(
                bus.Event("server.connected", {}, seq=None if self.since == FOREIGN else self.since)
            )
            yield await self._missed(self.since)
            if not self.again:
                yield await self._settled()
            texts = await in_db(OpenTexts.of, self.project_id) if self.again else OpenTexts()
            yield await self._frames([event for event in texts.begin() if self._tells(event)])
            disposed = False
            while not mailbox.overflowed and not disposed:
                waiting = await mailbox.take(texts.patience(HEARTBEAT_SECONDS))
                self._waiting = 0
                disposed = any(self._is_last(event) for event in waiting)
                told = await texts.whole(waiting)
                if told or not texts.late:
                    yield await self._frames(told or [bus.Event("server.heartbeat", {})])
            if mailbox.overflowed:
                yield await self._frame(bus.Event(RESYNC, {"reason": "The reader was too slow."}))

    def _wants(self, event: bus.Event) -> bool:
        """Called from any thread."""
        if not self._tells(event) or self._mailbox.overflowed:
            return False
        self._waiting += len(self._encoded(event))
        if self._waiting > MOST_BYTES:
            self._mailbox.cut_off()
        return not self._mailbox.overflowed

    def _tells(self, event: bus.Event) -> bool:
        known = event.type not in INTERNAL and (self.own or event.type not in ours.EVENTS)
        return known and self._concerns(event)

    def _concerns(self, event: bus.Event) -> bool:
        return event.directory in ("", self.directory)

    def _is_last(self, event: bus.Event) -> bool:
        return event.type == DISPOSED

    async def _missed(self, since: int) -> bytes:
        self._seen, found = await in_db(replay, since, project=self.project_id)
        if found is None:
            why = {"reason": "The log of events does not reach back to this cursor."}
            return await self._frame(bus.Event(RESYNC, why, seq=self._seen))
        return b"".join([await self._frame(event) for event in found if self._tells(event)])

    async def _settled(self) -> bytes:
        """Who comes back after a restart may still take sessions for busy whose turns were settled before."""
        found = await in_db(event_log.settled_since, now() - SETTLED_MS, self.project_id)
        return b"".join([await self._frame(event) for event in found if self._concerns(event)])

    async def _frames(self, events: list[bus.Event]) -> bytes:
        new = (event for event in events if event.seq is None or event.seq > self._seen)
        return b"".join([await self._frame(event) for event in new])

    async def _frame(self, event: bus.Event) -> bytes:
        cursor = f"id: {event.seq}\n" if event.seq is not None else ""
        return f"{cursor}data: {await self._content(event)}\n\n".encode("utf-8", "replace")

    async def _content(self, event: bus.Event) -> str:
        return self._encoded(event)

    def _encoded(self, event: bus.Event) -> str:
        return event.json if self.own else event.plain_json


class _Global(_Stream):
    """What one client of `/global/event` is sent."""

    def _concerns(self, event: bus.Event) -> bool:
        return True

    def _is_last(self, event: bus.Event) -> bool:
        return False

    async def _frame(self, event: bus.Event) -> bytes:
        """The cursor stands at the last one of an event: who is cut off between them is told both again."""
        again = sync.of(event)
        if again is None:
            return await super()._frame(event)
        first = await self._content(event)
        second = await self._about(event, json.dumps(again, ensure_ascii=False))
        return f"data: {first}\n\nid: {event.seq}\ndata: {second}\n\n".encode("utf-8", "replace")

    async def _content(self, event: bus.Event) -> str:
        return await self._about(event, await super()._content(event))

    async def _about(self, event: bus.Event, payload: str) -> str:
        directory = event.directory or GLOBAL
        if event.project_id and not event.directory and event.type != "project.updated":
            directory = await in_db(worktree_of, event.project_id)
        project = f'"project":{json.dumps(event.project_id)},' if event.project_id else ""
        return f'{{"directory":{json.dumps(directory)},{project}"payload":{payload}}}'

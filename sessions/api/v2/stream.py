"""`/api/event` and `/api/session/{id}/event`: what happens, also after a cursor.

Frames are as OpenCode's: `data:` alone, and a comment as heartbeat.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, StreamingHttpResponse
from ninja import Router

from sessions import bus
from sessions.api.described import answers
from sessions.api.stream import MOST_BYTES, RESYNC
from sessions.api.v2.base import session_of
from sessions.api.v2.messages import check_cursor
from sessions.db import in_db
from sessions.ids import ascending
from sessions.projection import log
from sessions.projection.live import Translation
from sessions.wire.v2.events import EventV2

router = Router()

HEARTBEAT_SECONDS = 10.0
HEARTBEAT = b": heartbeat\n\n"
MOST_HINTS = 5_000
AT_ONCE = 200


@router.get("/event", operation_id="v2.event.subscribe")
@answers(EventV2, media="text/event-stream")
async def subscribe(request: HttpRequest) -> StreamingHttpResponse:
    """Everything that happens on this server, from now on."""
    return _response(everything())


@router.get("/session/{session_id}/event", operation_id="v2.session.events")
@answers(EventV2, media="text/event-stream", errors=(404,))
async def subscribe_session(request: HttpRequest, session_id: str, after: int = 0) -> StreamingHttpResponse:
    """What was logged of a session after a cursor, and then what is logged."""
    await session_of(session_id)
    await check_cursor(after)
    return _response(of_session(session_id, after))


async def everything(most_bytes: int = MOST_BYTES) -> AsyncIterator[bytes]:
    """A reader too slow for so many bytes of waiting events is told and cut off."""
    load = _Load(most_bytes)
    async with bus.subscribe(wants=load.takes) as mailbox:
        load.mailbox = mailbox
        yield _frame(EventV2(id=ascending("evt"), type="server.connected", data={}).wire())
        yield HEARTBEAT
        translation = Translation()
        while not mailbox.overflowed:
            waiting = await mailbox.take(HEARTBEAT_SECONDS)
            load.waiting = 0
            found = await translation.of(waiting)
            yield b"".join(map(_frame, found)) if waiting else HEARTBEAT
        yield _cut_off()


@dataclass
class _Load:
    """Bytes of events that wait for a reader."""

    most: int
    waiting: int = 0
    mailbox: bus.Subscription | None = None

    def takes(self, event: bus.Event) -> bool:
        """Called from any thread."""
        self.waiting += len(event.json)
        if self.waiting > self.most and self.mailbox is not None:
            self.mailbox.cut_off()
        return self.waiting <= self.most


async def of_session(session_id: str, cursor: int, most: int = MOST_HINTS) -> AsyncIterator[bytes]:
    """The log is read as the client takes it, so nothing waits here but hints that there is more; one that
    has let so many of them wait is told and cut off."""
    live = False
    async with bus.subscribe(session=session_id, wants=log.tells, limit=most) as mailbox:
        yield HEARTBEAT
        while not mailbox.overflowed:
            found, cursor = await in_db(log.after, session_id, cursor, AT_ONCE, live=live)
            if found:
                yield b"".join(_frame(event.wire()) for event in found)
            if len(found) == AT_ONCE:
                continue
            live = True
            if not await mailbox.take(HEARTBEAT_SECONDS):
                yield HEARTBEAT
        yield _cut_off()


def _cut_off() -> bytes:
    """The last frame of a stream from which events are missing: the client has to read again."""
    reason = {"reason": "The reader was too slow."}
    return _frame(EventV2(id=ascending("evt"), type=RESYNC, data=reason).wire())


def _frame(event: dict[str, Any]) -> bytes:
    text = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
    return f"data: {text}\n\n".encode("utf-8", "replace")


def _response(frames: AsyncIterator[bytes]) -> StreamingHttpResponse:
    response = StreamingHttpResponse(frames, content_type="text/event-stream")
    response["Cache-Control"] = "no-cache, no-transform"
    response["X-Accel-Buffering"] = "no"
    return response

"""`/api/event` and `/api/session/{id}/event`: what happens, also after a cursor.

Frames are as OpenCode's: `data:` alone, and a comment as heartbeat.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, StreamingHttpResponse
from ninja import Router

from sessions.api.described import answers
from sessions.api.stream import DISPOSED, INTERNAL, MOST_BYTES, RESYNC
from sessions.api.v2.base import session_of
from sessions.api.v2.messages import check_cursor
from sessions.api.v2.projection import log
from sessions.core import bus
from sessions.core.db import in_db
from sessions.core.ids import ascending, now
from sessions.core.models import Part
from sessions.core.store import messages
from sessions.core.wire import ours
from sessions.core.wire.session import PermissionInfo
from sessions.core.wire.v2 import events
from sessions.core.wire.v2.base import LocationRef
from sessions.core.wire.v2.events import PREFIX, EventV2
from sessions.core.wire.v2.requests import permission_of

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
        self.waiting += len(event.plain_json)
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


# Events of the bus as the second protocol tells them: the first protocol's, and its own made of them.

Wire = dict[str, Any]
Maker = tuple[type[events.Told], str, str]
"""The kind of event that a part's deltas are, and the name and value of the field for its id."""

_NOT_TOLD = INTERNAL | ours.EVENTS | {DISPOSED, "server.heartbeat"}
_ASKED = {"question.asked", "question.replied", "question.rejected", "permission.replied"}
_MOST_KNOWN = 1000


class Translation:
    """For one client; knows which kind of text each streaming part is."""

    def __init__(self) -> None:
        self._kinds: dict[str, Maker | None] = {}

    async def of(self, told: Sequence[bus.Event]) -> list[Wire]:
        seqs = [event.seq for event in told if event.seq is not None and log.tells(event)]
        logged = await in_db(log.of, seqs) if seqs else {}
        found: list[Wire] = []
        for event in told:
            found += [item.wire() for item in _as_before(event)]
            if event.type == "message.part.delta":
                found += [item.wire() for item in await self._delta(event)]
            for item in logged.get(event.seq or 0, ()):
                found.append(item.model_copy(update={"location": _location(event)}).wire())
        return found

    async def _delta(self, event: bus.Event) -> list[EventV2]:
        part_id = event.properties["partID"]
        if part_id not in self._kinds:
            if len(self._kinds) >= _MOST_KNOWN:
                self._kinds.clear()
            self._kinds[part_id] = await in_db(_maker, part_id)
        maker = self._kinds[part_id]
        if maker is None:
            return []
        kind, name, value = maker
        about = {"timestamp": now(), "session_id": event.session_id, name: value}
        words = event.properties["delta"]
        told = (
            kind(**about, text=words)
            if kind is events.CompactionDelta
            else kind(**about, message_id=event.properties["messageID"], delta=words)
        )
        return [_event(event, f"{PREFIX}{kind.kind}", told.wire())]


def _maker(part_id: str) -> Maker | None:
    """None for a part that is gone."""
    row = Part.objects.filter(id=part_id).select_related("message").first()
    if row is None:
        return None
    if row.message.data.get("summary"):
        return events.CompactionDelta, "message_id", messages.known_as(row.message.data["parentID"])
    if row.type == "reasoning":
        return events.ReasoningDelta, "reasoning_id", part_id
    return events.TextDelta, "text_id", part_id


def _as_before(event: bus.Event) -> Iterator[EventV2]:
    """As the first protocol tells it, and what only has another name in the second."""
    if event.type in _NOT_TOLD or event.type.startswith(PREFIX):
        return
    data = ours.event(event.type, event.properties)
    yield _event(event, event.type, data)
    if event.type == "permission.asked":
        asked = permission_of(PermissionInfo.model_validate(event.properties))
        yield _event(event, "permission.v2.asked", asked.wire())
    elif event.type in _ASKED:
        subject, what = event.type.split(".")
        yield _event(event, f"{subject}.v2.{what}", data)


def _event(event: bus.Event, type: str, data: Wire) -> EventV2:
    return EventV2(id=event.id, type=type, location=_location(event), data=data)


def _location(event: bus.Event) -> LocationRef | None:
    return LocationRef(directory=event.directory) if event.directory else None

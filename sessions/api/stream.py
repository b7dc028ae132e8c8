"""`/event` and `/global/event`: everything that happens, as server-sent events framed as OpenCode does.

Every logged event has its `id:`, so a client that comes again with `Last-Event-ID` (every EventSource does)
or `?since=` is first sent what was logged after that cursor, and what it missed of texts that still stream.
`/global/event` says what changed sessions once more as `sync` events, as OpenCode does.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field, replace

from django.http import HttpRequest, StreamingHttpResponse
from ninja import Router
from ninja.errors import HttpError

from sessions.api.base import directory_of, project_of
from sessions.api.described import answers
from sessions.api.replay import events_of, replay
from sessions.api.v2.projection import sync
from sessions.core import bus
from sessions.core.db import in_db
from sessions.core.ids import now
from sessions.core.models import Message, Part, Session
from sessions.core.store import events, line, schedules, session_folders
from sessions.core.store import events as event_log
from sessions.core.store.rows import part_wire, worktree_of
from sessions.core.wire import ours
from sessions.core.wire.events import EventFrame, GlobalFrame

router = Router()

HEARTBEAT_SECONDS = 10.0
MOST_BYTES = 16 * 1024 * 1024
"""Of events that wait for a reader; one that is further behind is told so and cut off."""
MOST_AHEAD = 1000
"""Events told from the log whose own hint has not come: those of a hint that never comes are forgotten."""
INTERNAL = {
    "session.inbox",
    "review.changed",
    "permission.rules",
    "session.forked",
    "session.read",
    "session.pins",
    "session.goal",
    schedules.CHANGED,
    "comparison.updated",
    "session.presence",
    session_folders.CHANGED,
    line.MOVED,
    "store.full",
    "mcp.changed",
    "sandbox.ports",
    "keys.changed",
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
            cursor = None if self.since == FOREIGN else self.since
            yield await self._frames([bus.Event("server.connected", {}, seq=cursor)])
            yield await self._missed(self.since)
            if not self.again:
                yield await self._settled()
            order = _Order(self.project_id, self._seen)
            texts = await in_db(OpenTexts.of, self.project_id) if self.again else OpenTexts()
            yield await self._frames([event for event in texts.begin() if self._tells(event)])
            disposed = False
            while not mailbox.overflowed and not disposed:
                came = await order.kept(await mailbox.take(texts.patience(HEARTBEAT_SECONDS)), self._tells)
                # Before texts are made whole: what was read from the log holds nothing back of them any more.
                waiting = [event for event in came if event.seq is None or event.seq > self._seen]
                self._waiting = 0
                disposed = any(self._is_last(event) for event in waiting)
                told = await texts.whole(waiting)
                if told or not texts.late:
                    yield await self._frames(told or [bus.Event("server.heartbeat", {})])
            if mailbox.overflowed:
                yield await self._frames([bus.Event(RESYNC, {"reason": "The reader was too slow."})])

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
            return await self._frames([bus.Event(RESYNC, why, seq=self._seen)])
        return await self._frames([event for event in found if self._tells(event)])

    async def _settled(self) -> bytes:
        """Who comes back after a restart may still take sessions for busy whose turns were settled before."""
        found = await in_db(event_log.settled_since, now() - SETTLED_MS, self.project_id)
        return await self._frames([event for event in found if self._concerns(event)])

    async def _frames(self, events: list[bus.Event]) -> bytes:
        return b"".join(map(self._told, events))

    def _told(self, event: bus.Event) -> bytes:
        return event.frame if self.own else event.plain_frame

    def _encoded(self, event: bus.Event) -> str:
        return event.json if self.own else event.plain_json


class _Order:
    """Where several processes tell events, what one has logged before the event of another is told before it,
    from the log: a cursor passes nothing that its client was not told. `last` is the newest that it was."""

    def __init__(self, project_id: str, last: int) -> None:
        self._project_id = project_id
        self._last = last
        self._ahead: deque[int] = deque(maxlen=MOST_AHEAD)

    async def kept(self, came: list[bus.Event], tells: Callable[[bus.Event], bool]) -> list[bus.Event]:
        """The events that came, each after those before it in the log; what was told so, not again."""
        if not bus.is_relayed():
            return came
        found: list[bus.Event] = []
        for event in came:
            if event.seq is None:
                found.append(event)
            elif event.seq not in self._ahead:
                if event.seq > self._last + 1:
                    found += [late for late in await in_db(self._before, event.seq) if tells(late)]
                found.append(event)
                self._last = max(self._last, event.seq)
        return found

    def _before(self, seq: int) -> list[bus.Event]:
        """Without texts that stream: their rows have more by now than their next deltas go on from, and who
        comes again is told of them anyway."""
        rows = [row for row in event_log.between(self._last, seq, self._project_id) if row.stage != "open"]
        self._ahead.extend(row.pk for row in rows)
        return events_of(rows)


class _Global(_Stream):
    """What one client of `/global/event` is sent."""

    def _concerns(self, event: bus.Event) -> bool:
        return True

    def _is_last(self, event: bus.Event) -> bool:
        return False

    async def _frames(self, events: list[bus.Event]) -> bytes:
        return b"".join([await self._both(event) for event in events])

    async def _both(self, event: bus.Event) -> bytes:
        """The cursor stands at the last one of an event: who is cut off between them is told both again."""
        cursor = f"id: {event.seq}\n" if event.seq is not None else ""
        about = await self._about(event)
        told = f'data: {{{about}"payload":{self._encoded(event)}}}\n\n'
        if (again := sync.of(event)) is None:
            return f"{cursor}{told}".encode("utf-8", "replace")
        second = json.dumps(again, ensure_ascii=False)
        return f'{told}{cursor}data: {{{about}"payload":{second}}}\n\n'.encode("utf-8", "replace")

    async def _about(self, event: bus.Event) -> str:
        directory = event.directory or GLOBAL
        if event.project_id and not event.directory and event.type != "project.updated":
            directory = await in_db(worktree_of, event.project_id)
        project = f'"project":{json.dumps(event.project_id)},' if event.project_id else ""
        return f'"directory":{json.dumps(directory)},{project}'


# Texts that still stream while a client comes back: what it missed of them is read from their rows.
#
# Deltas are sent and not logged, and a row has what was said until its last fold. So a text is told whole
# from
# its row first, and what comes of it is held until the row has all that came before that.

LOOK_SECONDS = 0.1
"""How often a row is looked at while something of its text is held; rows are folded every 0.25 s."""


@dataclass
class OpenTexts:
    """For one client; `_told` is how many characters it was told of each text."""

    _told: dict[str, int] = field(default_factory=dict)
    _held: dict[str, list[bus.Event]] = field(default_factory=dict)
    _first: list[bus.Event] = field(default_factory=list)

    @classmethod
    def of(cls, project_id: str = "") -> OpenTexts:
        """What streams now, in a project or in all. On the ORM's thread."""
        found = cls()
        sessions = Session.objects.filter(time_deleted=None).exclude(status__type="idle")
        if project_id:
            sessions = sessions.filter(project_id=project_id)
        busy = dict(sessions.values_list("id", "project_id"))
        said = Message.objects.filter(session_id__in=busy, role="assistant")
        open_messages = said.exclude(data__time__has_key="completed").values("id")
        texts = Part.objects.filter(message_id__in=open_messages, type__in=("text", "reasoning"))
        for row in texts.filter(data__has_key="time").exclude(data__time__has_key="end").order_by("id"):
            found._first.append(found._whole(row, busy[row.session_id]))
        return found

    def begin(self) -> list[bus.Event]:
        """Each text as its row has it."""
        return self._first

    @property
    def late(self) -> bool:
        """Whether something is held."""
        return bool(self._held)

    def patience(self, seconds: float) -> float:
        """How long to wait for the next events."""
        return LOOK_SECONDS if self._held else seconds

    async def whole(self, told: Iterable[bus.Event]) -> list[bus.Event]:
        """Events as they may be sent: none of a text before what it goes on from."""
        ready = [event for event in told if self._is_ready(event)]
        ready = [cut for event in ready if (cut := self._new_of(event)) is not None]
        return ready + await in_db(self._filled) if self._held else ready

    def _is_ready(self, event: bus.Event) -> bool:
        part_id = _part_of(event)
        if part_id not in self._told:
            return True
        if event.type != "message.part.delta":  # it has the whole text
            self._forget(part_id)
            return True
        if part_id in self._held or event.properties["offset"] > self._told[part_id]:
            self._held.setdefault(part_id, []).append(event)
            return False
        return True

    def _new_of(self, event: bus.Event) -> bus.Event | None:
        """A delta without what was told of it from the row; None when that is all of it."""
        part_id = _part_of(event)
        if event.type != "message.part.delta" or part_id not in self._told:
            return event
        delta, offset = event.properties["delta"], event.properties["offset"]
        known = self._told[part_id]
        self._told[part_id] = max(known, offset + len(delta))
        if offset == known:
            return event
        rest = delta[known - offset :]
        return (
            replace(event, properties={**event.properties, "delta": rest, "offset": known}) if rest else None
        )

    def _filled(self) -> list[bus.Event]:
        """Texts whose rows have caught up with what is held of them."""
        found: list[bus.Event] = []
        for part_id, held in list(self._held.items()):
            row = Part.objects.filter(id=part_id).first()
            if row is None:
                self._forget(part_id)
            elif len(row.data.get("text", "")) >= held[0].properties["offset"]:
                del self._held[part_id]
                found.append(self._whole(row, held[0].project_id))
                found += [cut for event in held if (cut := self._new_of(event)) is not None]
        return found

    def _whole(self, row: Part, project_id: str) -> bus.Event:
        self._told[row.id] = len(row.data.get("text", ""))
        return bus.Event(
            "message.part.updated",
            {"sessionID": row.session_id, "part": part_wire(row), "time": now()},
            project_id=project_id,
            session_id=row.session_id,
            directory=events.directory_of(row.session_id),
        )

    def _forget(self, part_id: str) -> None:
        self._told.pop(part_id, None)
        self._held.pop(part_id, None)


def _part_of(event: bus.Event) -> str:
    if event.type == "message.part.delta":
        return str(event.properties["partID"])
    return str(event.properties["part"]["id"]) if event.type == "message.part.updated" else ""

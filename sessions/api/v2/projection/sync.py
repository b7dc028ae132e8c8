"""What changed sessions, as OpenCode's servers tell it each other: `sync` events and their history.

An event of the log is told with its place in it: `seq` rises within a session, whose id `aggregateID` is.
The history is made of the log and of what the rows say now: of what happened to one thing several times it
has the first and the last. Rows that the log does not reach back to (any more) come before all that it has.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import Min

from sessions.api.replay import ends, events_of
from sessions.core import bus
from sessions.core.ids import of_log
from sessions.core.models import Event, Message, Part, Session
from sessions.core.store.rows import message_wire, part_wire, session_wire
from sessions.core.wire import ours

Wire = dict[str, Any]

VERSION = 1
LOGGED = 2**32
"""The `seq` that the log begins with; rows that it has not are numbered from 0."""
_TYPES = frozenset(
    {
        "session.created",
        "session.updated",
        "session.deleted",
        "message.updated",
        "message.removed",
        "message.part.updated",
        "message.part.removed",
    }
)


def of(event: bus.Event) -> Wire | None:
    """The `sync` event of one that was logged just now; None for what is not told so."""
    if event.seq is None or event.type not in _TYPES:
        return None
    told = {
        "type": f"{event.type}.{VERSION}",
        "id": event.id,
        "seq": LOGGED + event.seq,
        "aggregateID": event.session_id,
        "data": ours.event(event.type, event.properties),
    }
    return {"type": "sync", "id": event.id, "syncEvent": told}


def session_ids() -> list[str]:
    """Of all sessions, the oldest first."""
    return list(Session.objects.order_by("time_created", "-id").values_list("id", flat=True))


def history(session_id: str, known: int = -1) -> list[Wire]:
    """What there is of a session after the `seq` that a client knows; all of it where the log no longer
    reaches back to that."""
    row = Session.objects.select_related("project").filter(id=session_id).first()
    return list(_of_session(row, known)) if row else []


def _of_session(row: Session, known: int) -> Iterator[Wire]:
    oldest = Event.objects.aggregate(oldest=Min("id"))["oldest"] or 0
    logged = Event.objects.filter(session_id=row.id, type__in=_TYPES).order_by("id")
    if known >= LOGGED + oldest - 1:
        yield from _told(list(logged.filter(id__gt=known - LOGGED)))
        return
    found = list(logged)
    named = {str(event.reference.get("partID") or event.reference.get("messageID")) for event in found}
    if row.time_deleted is None:
        whole = _whole(row, named, created=any(event.type == "session.created" for event in found))
        yield from (
            _event(row.id, number, type, of_log(row.time_created, number), data)
            for number, (type, data) in enumerate(whole)
        )
    yield from _told(found)


def _whole(row: Session, named: set[str], *, created: bool) -> Iterator[tuple[str, Wire]]:
    """What the log does not name."""
    if not created:
        yield "session.created", {"sessionID": row.id, "info": session_wire(row)}
    for message in Message.objects.filter(session_id=row.id).order_by("id"):
        if message.id not in named:
            yield "message.updated", {"sessionID": row.id, "info": message_wire(message)}
    for part in Part.objects.filter(session_id=row.id).order_by("message_id", "id"):
        if part.id not in named:
            data = {"sessionID": row.id, "part": part_wire(part), "time": row.time_updated}
            yield "message.part.updated", data


def _told(logged: list[Event]) -> Iterator[Wire]:
    for event in events_of(ends(logged)):
        number = LOGGED + (event.seq or 0)
        yield _event(event.session_id, number, event.type, event.id, event.properties)


def _event(session_id: str, seq: int, type: str, id: str, data: Wire) -> Wire:
    return {
        "id": id,
        "aggregate_id": session_id,
        "seq": seq,
        "type": f"{type}.{VERSION}",
        "data": ours.event(type, data),
    }

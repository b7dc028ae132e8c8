"""What changed sessions, as OpenCode's servers tell it each other: `sync` events and their history.

`seq` counts what changed within a session, whose id `aggregateID` is: 0, 1, 2, … The log says what changed
and the rows what it is now. So of what happened to one thing several times a history has the first and the
last; what is told at the other numbers, and at those before the log begins, is docs/decisions/0033.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sessions.api.replay import ends, events_of
from sessions.core import bus
from sessions.core.ids import of_log
from sessions.core.models import Event, Message, Part, Session
from sessions.core.store.rows import message_wire, part_wire, session_wire
from sessions.core.wire import ours

Wire = dict[str, Any]
Told = tuple[str, Wire]

VERSION = 1


def of(event: bus.Event) -> Wire | None:
    """The `sync` event of one that was logged just now; None for what is not told so."""
    if event.number is None:
        return None
    told = {
        "type": f"{event.type}.{VERSION}",
        "id": event.id,
        "seq": event.number,
        "aggregateID": event.session_id,
        "data": ours.event(event.type, event.properties),
    }
    return {"type": "sync", "id": event.id, "syncEvent": told}


def session_ids() -> list[str]:
    """Of all sessions, the oldest first."""
    return list(Session.objects.order_by("time_created", "-id").values_list("id", flat=True))


def history(session_id: str, known: int = -1) -> list[Wire]:
    """What there is of a session after the `seq` that a client knows, without a hole."""
    row = Session.objects.select_related("project").filter(id=session_id).first()
    return list(_of_session(row, known)) if row else []


def _of_session(row: Session, known: int) -> Iterator[Wire]:
    logged = list(Event.objects.filter(session_id=row.id, number__gt=known).order_by("id"))
    told: dict[int, Told] = {
        event.number: (event.type, event.properties)
        for event in events_of(ends(logged))
        if event.number is not None and (event.type, event.number > 0) != ("session.created", True)
    }
    end = (logged[-1].number or 0) + 1 if logged else row.next_number
    spare: Iterator[Told] = iter(())
    if row.time_deleted is None and end - known - 1 > len(logged):
        spare = _whole(row, logged, created=known < 0 and 0 not in told)
    ids = {event.number: of_log(event.time_created, event.pk) for event in logged}
    for number in range(known + 1, end):
        type, data = told.get(number) or next(spare, None) or _nothing_new(row)
        yield {
            "id": ids.get(number) or of_log(row.time_created, number),
            "aggregate_id": row.id,
            "seq": number,
            "type": f"{type}.{VERSION}",
            "data": ours.event(type, data),
        }


def _nothing_new(row: Session) -> Told:
    """At the number of what was told already, or is gone."""
    return "session.updated", {"sessionID": row.id, "info": session_wire(row)}


def _whole(row: Session, logged: list[Event], *, created: bool) -> Iterator[Told]:
    """What the log does not name, a message also where it does not name a part of it: that comes after it."""
    named = {str(event.reference.get("partID") or event.reference.get("messageID")) for event in logged}
    parts = [
        part
        for part in Part.objects.filter(session_id=row.id).order_by("message_id", "id")
        if part.id not in named
    ]
    needed = {part.message_id for part in parts}
    if created:
        yield "session.created", {"sessionID": row.id, "info": session_wire(row)}
    for message in Message.objects.filter(session_id=row.id).order_by("id"):
        if message.id not in named or message.id in needed:
            yield "message.updated", {"sessionID": row.id, "info": message_wire(message)}
    for part in parts:
        yield "message.part.updated", {"sessionID": row.id, "part": part_wire(part), "time": row.time_updated}

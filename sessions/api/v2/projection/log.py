"""The events of a session after a cursor, made of the log and of what the rows say now.

One row of the log may be several events; a cursor is the row's number and, in its last two bits, which of
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from django.db.models import Q

from sessions.api.v2.projection.rows import Rows
from sessions.api.v2.projection.telling import told_of
from sessions.core import bus
from sessions.core.ids import of_log
from sessions.core.models import Event
from sessions.core.store import events as event_log
from sessions.core.wire.v2.events import PREFIX, Durable, EventV2

_MOST: Final = 4
"""Events of one row of the log."""
_PAGE: Final = 200
_MOST_MADE: Final = 512
_made: dict[int, list[EventV2]] = {}
"""Of the last rows of the log, by their number."""
_TYPES: Final = ("session.inbox", "message.updated", "message.part.updated", "session.compacted")
_RELEVANT: Final = Q(type__in=_TYPES) | Q(type__startswith=PREFIX)


class NoSuchCursor(ValueError):
    """The log does not reach back to a cursor, or it has not come so far."""


def tells(event: bus.Event) -> bool:
    """Whether the log may have something to tell of this; called from any thread."""
    return event.seq is not None and (event.type in _TYPES or event.type.startswith(PREFIX))


def check(cursor: int) -> None:
    """Raises NoSuchCursor; 0 is always one."""
    oldest = Event.objects.order_by("id").values_list("id", flat=True).first() or 0
    if cursor and not oldest - 1 <= cursor // _MOST <= event_log.latest():
        raise NoSuchCursor


def after(session_id: str, cursor: int, limit: int, *, live: bool = False) -> tuple[list[EventV2], int]:
    """At most `limit` events after a cursor (0: from the beginning of what the log has), oldest first, and
    the cursor to go on from. `live`: as they happen, made once for all who listen. Raises NoSuchCursor."""
    if not live:
        check(cursor)
    made = shared if live else events_of
    rows = Event.objects.filter(_RELEVANT, session_id=session_id).order_by("id")
    found: list[EventV2] = []
    while len(found) < limit:
        chunk = list(rows.filter(id__gte=cursor // _MOST)[:_PAGE])
        found += [event for event in made(chunk) if seq_of(event) > cursor]
        if len(chunk) < _PAGE:
            return _cut(found, limit, _end(chunk, cursor))
        cursor = _end(chunk, cursor)
    return _cut(found, limit, cursor)


def of(seqs: Iterable[int]) -> dict[int, list[EventV2]]:
    """The events of rows that were logged just now, by the row's number."""
    found: dict[int, list[EventV2]] = {}
    for event in shared(list(Event.objects.filter(_RELEVANT, id__in=list(seqs)).order_by("id"))):
        found.setdefault(seq_of(event) // _MOST, []).append(event)
    return found


def of_prompt(session_id: str, prompt_id: str, *, promoted: bool) -> Event | None:
    """The row that tells of a prompt's admission or promotion; None when the log has none (any more)."""
    rows = Event.objects.filter(session_id=session_id, type="session.inbox", reference__messageID=prompt_id)
    rows = rows.exclude(stage="").filter(reference__has_key="promoted" if promoted else "messageID")
    return rows.order_by("id").first()


def cursor_of(row: Event | None) -> int | None:
    return None if row is None else row.pk * _MOST


def seq_of(event: EventV2) -> int:
    return event.durable.seq if event.durable else 0


def shared(logged: list[Event]) -> list[EventV2]:
    """The events of rows that were logged just now: many listeners ask for the same. On the ORM's thread."""
    new = [row for row in logged if row.pk not in _made]
    if len(_made) + len(new) > _MOST_MADE:
        _made.clear()
        new = logged
    _made.update({row.pk: [] for row in new})
    for event in events_of(new):
        _made[seq_of(event) // _MOST].append(event)
    return [event for row in logged for event in _made[row.pk]]


def events_of(logged: list[Event]) -> Iterator[EventV2]:
    rows = Rows(logged)
    for row in logged:
        for index, told in enumerate(told_of(row, rows)):
            yield _event(row, index, *told)


def _event(row: Event, index: int, kind: str, data: dict[str, Any]) -> EventV2:
    """Its id is made of its place in the log, so that it is the same whenever it is read."""
    seq = row.pk * _MOST + index
    return EventV2(
        id=of_log(row.time_created, seq),
        type=f"{PREFIX}{kind}",
        durable=Durable(aggregate_id=row.session_id, seq=seq),
        data=data,
    )


def _end(chunk: list[Event], cursor: int) -> int:
    """The cursor behind all events of these rows."""
    return chunk[-1].pk * _MOST + _MOST - 1 if chunk else cursor


def _cut(found: list[EventV2], limit: int, end: int) -> tuple[list[EventV2], int]:
    return (found[:limit], seq_of(found[limit - 1])) if len(found) > limit else (found, end)

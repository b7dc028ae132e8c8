"""The event log: append in the writer's transaction, publish after commit, read back after a cursor."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from django.db import connection, transaction
from django.db.models import F, Max, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce, Greatest

from sessions.core import bus, fence
from sessions.core.ids import now, of_log
from sessions.core.models import Event, Session

REMEMBERED = 4096
RECENT = 5000
"""Events among which one of the last minute is looked for."""
SETTLED = "session.settled"
"""Ours: a turn that its worker did not end was settled."""
NUMBERED = frozenset(
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
"""What changes a session or what it has; counted within it."""
_directories: dict[str, str] = {}
"""By session; every event of a session asks."""


def record(
    type: str,
    properties: dict[str, Any],
    *,
    project: str = "",
    session: str = "",
    reference: dict[str, Any] | None = None,
    stage: str = "",
    untold: int = 0,
) -> None:
    """Log an event and publish it once the transaction has committed; call it inside `atomic`.

    The log gets `reference`, by default the plain values among the properties; the rest is read from the rows
    when the event is replayed (`api.replay`). `stage` is how far what changed was (see the model). `untold`:
    so many rows came into the session that no event of their own tells of; they count before this one.
    """
    row = Event(
        type=type,
        project_id=project,
        session_id=session,
        reference=_references(properties) if reference is None else reference,
        stage=stage,
        time_created=now(),
    )
    entry = _Entry(row, properties, fence.epoch(session), untold)
    if _open.entries is not None:
        _open.entries.append(entry)
    else:
        _log([entry])


@dataclass(frozen=True, slots=True)
class _Entry:
    """An event that goes into the log; `untold` is as for `record`."""

    row: Event
    properties: dict[str, Any]
    epoch: int
    untold: int

    @property
    def is_numbered(self) -> bool:
        return bool(self.row.session_id) and self.row.type in NUMBERED

    def event(self) -> bus.Event:
        row = self.row
        return bus.Event(
            row.type,
            self.properties,
            seq=row.pk,
            project_id=row.project_id,
            session_id=row.session_id,
            directory=directory_of(row.session_id) if row.session_id else "",
            epoch=self.epoch,
            id=of_log(row.time_created, row.pk),
            number=row.number,
        )


class _Open(threading.local):
    entries: list[_Entry] | None = None


_open = _Open()


@contextmanager
def together() -> Iterator[None]:
    """A transaction whose events go into the log at its end, by one statement, which looks at the lease, too.
    What it calls must not catch an error that took some of it back."""
    with transaction.atomic(savepoint=False):
        if _open.entries is not None:
            yield
            return
        entries = _open.entries = []
        with fence.at_the_end():
            try:
                yield
            finally:
                _open.entries = None
            if entries:
                _log(entries)


# The log is written by statements of its own: a turn does little else, and to have Django put them together
# took longer than all the rest of an event.

_COLUMNS = ("type", "project_id", "session_id", "number", "reference", "stage", "time_created")
_MOST = 100
"""Events of one statement: databases bound its parameters."""
_FOLLOWING = (
    "COALESCE((SELECT number FROM opencode_sessions_event WHERE session_id = {0} AND number IS NOT NULL"
    " ORDER BY id DESC LIMIT 1) + 1, (SELECT next_number FROM opencode_sessions_session WHERE id = {0}), 0)"
)
_LAST = "SELECT id, number FROM opencode_sessions_event ORDER BY id DESC LIMIT %s"


def _log(entries: Sequence[_Entry]) -> None:
    """Insert them, and publish them after the commit."""
    for start in range(0, len(entries), _MOST):
        _insert(entries[start : start + _MOST])
    for entry in entries:
        transaction.on_commit(partial(bus.publish, entry.event()))


def _insert(entries: Sequence[_Entry]) -> None:
    """With their ids, which rise in their order, and their numbers, which the database counts on from the
    last one of each session: nobody else writes meanwhile."""
    ahead: dict[str, int] = {}
    values: list[Any] = []
    for entry in entries:
        row, number = entry.row, None
        if entry.is_numbered:
            number = ahead.get(row.session_id, 0) + entry.untold
            ahead[row.session_id] = number + 1
            fence.count(row.session_id, 1 + entry.untold)
        reference = json.dumps(row.reference)
        values += row.type, row.project_id, row.session_id, number, reference, row.stage, row.time_created
    condition, of_lease = fence.condition()
    returns = connection.features.can_return_rows_from_bulk_insert
    marks = ", ".join([_MARKS] * len(entries))
    with connection.cursor() as cursor:
        returning = " RETURNING id, number" if returns else ""
        cursor.execute(
            f"{_statement()} (VALUES {marks}) AS given{condition}{returning}", [*values, *of_lease]
        )
        if not returns and cursor.rowcount:
            cursor.execute(_LAST, [len(entries)])
        found = sorted(cursor.fetchall())
    fence.looked(held=bool(found))
    for entry, (id, number) in zip(entries, found, strict=True):
        entry.row.pk, entry.row.number, entry.row._state.adding = id, number, False


_MARKS = f"({', '.join(['%s'] * len(_COLUMNS))})"


@cache
def _statement() -> str:
    """What stands before the rows, whose columns are without types in PostgreSQL."""
    columns = dict(zip(_COLUMNS, (f"column{number}" for number in range(1, len(_COLUMNS) + 1)), strict=True))
    ahead = f"CAST({columns['number']} AS bigint)"
    columns["number"] = f"{_FOLLOWING.format(columns['session_id'])} + {ahead}"
    if connection.vendor == "postgresql":
        columns["reference"] = f"CAST({columns['reference']} AS jsonb)"
    into = f"opencode_sessions_event ({', '.join(columns)})"
    return f"INSERT INTO {into} SELECT {', '.join(columns.values())} FROM"


def following(session_id: str) -> int:
    """The number that the next event will have which changes a session or what it has."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {_FOLLOWING.format('%s')}", [session_id, session_id])
        return int(cursor.fetchone()[0])


def tell(type: str, properties: dict[str, Any], session: str) -> None:
    """Publish what cannot be logged, as nothing can be written."""
    project = Session.objects.filter(id=session).values_list("project_id", flat=True).first() or ""
    directory = directory_of(session)
    bus.publish(bus.Event(type, properties, project_id=project, session_id=session, directory=directory))


def _references(properties: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in properties.items() if not isinstance(value, dict | list)}


def directory_of(session_id: str) -> str:
    """The folder of a session, which every event of it names."""
    if session_id not in _directories:
        found = Session.objects.filter(id=session_id).values_list("directory", flat=True).first()
        _remember(session_id, found or "")
    return _directories.get(session_id, "")


def known_directory(session_id: str) -> str:
    """The same without a query, for what is sent and not logged; empty when it is not known."""
    return _directories.get(session_id, "")


def moved(session_id: str, directory: str) -> None:
    """A session works in another folder from here on."""
    _remember(session_id, directory)


def _remember(session_id: str, directory: str) -> None:
    if len(_directories) >= REMEMBERED:
        _directories.clear()
    _directories[session_id] = directory


def after(cursor: int, *, session: str = "", project: str = "", limit: int = 1000) -> list[Event] | None:
    """Events of a session, a project (or all) after a cursor, oldest first; None when the log no longer
    reaches back, or when they are more than `limit`."""
    oldest = Event.objects.order_by("id").values_list("id", flat=True).first()
    if oldest is None or cursor < oldest - 1:
        return None if cursor else []
    rows = _heard(Event.objects.filter(id__gt=cursor), project)
    if session:
        rows = rows.filter(session_id=session)
    found = list(rows.order_by("id")[: limit + 1])
    return None if len(found) > limit else found


LATE_MS = 3000
"""How long what one process has logged may be on its way to the others."""


def before_late(cursor: int) -> int:
    """A cursor before what may not have been told yet when this one was: another process logged it."""
    moment = Event.objects.filter(id=cursor).values_list("time_created", flat=True).first()
    if moment is None or not bus.is_relayed():
        return cursor
    late = Event.objects.filter(id__gt=cursor - RECENT, id__lte=cursor, time_created__gte=moment - LATE_MS)
    return late.order_by("id").values_list("id", flat=True)[0] - 1


def between(after: int, before: int, project: str = "") -> list[Event]:
    """What was logged between two events, of a project or of all, oldest first."""
    return list(_heard(Event.objects.filter(id__gt=after, id__lt=before), project).order_by("id"))


def _heard(rows: QuerySet[Event], project: str) -> QuerySet[Event]:
    """Those that whoever listens to a project hears, or to all: its own and those of none."""
    return rows.filter(project_id__in=(project, "")) if project else rows


def settled_since(moment: int, project: str) -> list[bus.Event]:
    """Of sessions that a turn was settled in since (ms), which another worker had begun, what their status is
    now; of a project, or of all."""
    rows = Event.objects.filter(id__gt=latest() - RECENT, time_created__gte=moment, type=SETTLED)
    if project:
        rows = rows.filter(project_id=project)
    ids = set(rows.values_list("session_id", flat=True))
    told = []
    for row in Session.objects.filter(id__in=ids, time_deleted=None, status__type="idle").order_by("id"):
        for kind, more in (("session.status", {"status": row.status}), ("session.idle", {})):
            properties = {"sessionID": row.id, **more}
            told.append(
                bus.Event(
                    kind, properties, project_id=row.project_id, session_id=row.id, directory=row.directory
                )
            )
    return told


def latest() -> int:
    """The cursor of now."""
    return Event.objects.order_by("-id").values_list("id", flat=True).first() or 0


def prune(keep: int | None, older_than: int = 0) -> int:
    """Drop all but the newest `keep` events (None: all may stay), and those before a time (ms) but for the
    last; returns how many went. Sessions count on from there. The log stays whole from its first event on, so
    one project's events are not kept longer than another's."""
    with transaction.atomic():
        newest = latest()
        young = Event.objects.filter(time_created__gte=older_than).order_by("id")
        begins = young.values_list("id", flat=True).first() or newest
        old = Event.objects.filter(id__lt=max(begins, 0 if keep is None else newest - keep + 1))
        counted = old.filter(session_id=OuterRef("id"), number__isnull=False).order_by()
        last = counted.values("session_id").annotate(last=Max("number")).values("last")
        sessions = Session.objects.filter(id__in=old.filter(number__isnull=False).values("session_id"))
        sessions.update(next_number=Greatest(F("next_number"), Coalesce(Subquery(last) + 1, Value(0))))
        return old.delete()[0]

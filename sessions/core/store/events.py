"""The event log: append in the writer's transaction, publish after commit, read back after a cursor."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from sessions.core import bus, fence
from sessions.core.ids import now, of_log
from sessions.core.models import Event, Session

REMEMBERED = 4096
RECENT = 5000
"""Events among which one of the last minute is looked for."""
SETTLED = "session.settled"
"""Ours: a turn that its worker did not end was settled."""
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
) -> None:
    """Log an event and publish it once the transaction has committed; call it inside `atomic`.

    The log gets `reference`, by default the plain values among the properties; the rest is read from the rows
    when the event is replayed (`api.replay`). `stage` is how far what changed was (see the model).
    """
    row = Event.objects.create(
        type=type,
        project_id=project,
        session_id=session,
        reference=_references(properties) if reference is None else reference,
        stage=stage,
        time_created=now(),
    )
    event = bus.Event(
        type,
        properties,
        seq=row.pk,
        project_id=project,
        session_id=session,
        directory=directory_of(session) if session else "",
        epoch=fence.epoch(session),
        id=of_log(row.time_created, row.pk),
    )
    transaction.on_commit(lambda: bus.publish(event))


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
    rows = Event.objects.filter(id__gt=cursor)
    if session:
        rows = rows.filter(session_id=session)
    if project:
        rows = rows.filter(project_id__in=(project, ""))
    found = list(rows.order_by("id")[: limit + 1])
    return None if len(found) > limit else found


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


def prune(keep: int = 50_000) -> int:
    """Drop all but the newest `keep` events; returns how many went."""
    return Event.objects.filter(id__lte=latest() - keep).delete()[0]

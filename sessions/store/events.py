"""The event log: append in the writer's transaction, publish after commit, read back after a cursor."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from sessions import bus
from sessions.ids import now
from sessions.models import Event


def record(
    type: str,
    properties: dict[str, Any],
    *,
    project: str = "",
    session: str = "",
    reference: dict[str, Any] | None = None,
) -> None:
    """Log an event and publish it once the transaction has committed; call it inside `atomic`."""
    row = Event.objects.create(
        type=type,
        project_id=project,
        session_id=session,
        reference=reference or {},
        time_created=now(),
    )
    event = bus.Event(type, properties, seq=row.pk, project_id=project, session_id=session)
    transaction.on_commit(lambda: bus.publish(event))


def after(cursor: int, *, session: str = "", limit: int = 1000) -> list[Event] | None:
    """Events of a session (or all) after a cursor, oldest first; None when the log no longer reaches back."""
    oldest = Event.objects.order_by("id").values_list("id", flat=True).first()
    if oldest is None or cursor < oldest - 1:
        return None if cursor else []
    rows = Event.objects.filter(id__gt=cursor)
    if session:
        rows = rows.filter(session_id=session)
    found = list(rows.order_by("id")[: limit + 1])
    return None if len(found) > limit else found


def latest() -> int:
    """The cursor of now."""
    return Event.objects.order_by("-id").values_list("id", flat=True).first() or 0


def prune(keep: int = 50_000) -> int:
    """Drop all but the newest `keep` events; returns how many went."""
    return Event.objects.filter(id__lte=latest() - keep).delete()[0]

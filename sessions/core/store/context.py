"""What the model was told of its surroundings: the session's epoch and its system messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction

from sessions.core.ids import now
from sessions.core.models import ContextEpoch, ContextMessage, Session
from sessions.core.prepared import Prepared

from . import events
from . import sessions as session_store
from .order import next_id


def epoch(session_id: str) -> ContextEpoch | None:
    """The session's epoch, in force or ended; None before the first."""
    return _EPOCH.first(session_id)


_EPOCH = Prepared(lambda session_id: ContextEpoch.objects.filter(session_id=session_id))
_BEGAN = Prepared(lambda session_id: ContextEpoch.objects.filter(session_id=session_id).only("began"))
_TOLD = Prepared(
    lambda session_id, after: ContextMessage.objects.filter(session_id=session_id, id__gt=after).order_by(
        "id"
    )
)


def begin(session_id: str, directory: str, baseline: str, snapshot: dict[str, Any]) -> ContextEpoch:
    """Begin an epoch in place of the one before; earlier system messages leave the model's history."""
    columns = {
        "began": next_id(session_id),
        "directory": directory,
        "baseline": baseline,
        "snapshot": snapshot,
        "ended": False,
    }
    return ContextEpoch.objects.update_or_create(session_id=session_id, defaults=columns)[0]


def advance(session_id: str, text: str, snapshot: dict[str, Any]) -> ContextMessage:
    """Admit a system message together with the snapshot that it brings the model up to."""
    session = Session.objects.get(id=session_id)
    with transaction.atomic():
        row = ContextMessage.objects.create(
            id=next_id(session_id), session=session, text=text, time_created=now()
        )
        ContextEpoch.objects.filter(session_id=session_id).update(snapshot=snapshot)
        properties = {
            "timestamp": row.time_created,
            "sessionID": session_id,
            "messageID": row.id,
            "text": text,
        }
        events.record(
            "session.next.context.updated",
            properties,
            project=session.project_id,
            session=session_id,
            reference={"messageID": row.id},
        )
    return row


MOST_VISITED = 100


def visit(session_id: str, folders: Sequence[str]) -> list[str]:
    """Note folders with instructions of their own and give all of them; none where there is no epoch yet."""
    with transaction.atomic():
        known = visited(session_id)
        fresh = [folder for folder in folders if folder not in known]
        if fresh:
            known = (known + fresh)[:MOST_VISITED]
            ContextEpoch.objects.filter(session_id=session_id).update(visited=known)
    return known


def visited(session_id: str) -> list[str]:
    """The folders that were noted, in the order in which the session came to them."""
    rows = ContextEpoch.objects.filter(session_id=session_id).values_list("visited", flat=True)
    return list(rows.first() or [])


def end(session_id: str) -> None:
    """Have a fresh baseline at the next provider attempt: a compaction has completed."""
    ContextEpoch.objects.filter(session_id=session_id).update(ended=True)


def move(session_id: str, directory: str) -> Session | None:
    """Let a session work in another folder of its project, where it begins with a complete baseline."""
    with transaction.atomic():
        ContextEpoch.objects.filter(session_id=session_id).delete()
        return session_store.update(session_id, directory=directory)


def remove_from(session_id: str, message_id: str) -> None:
    """Messages from this one on go for good. If system messages go with them, the snapshot knows more than
    the history tells, so the epoch ends."""
    if ContextMessage.objects.filter(session_id=session_id, id__gte=message_id).delete()[0]:
        end(session_id)


def history(session_id: str, after: str = "") -> tuple[str, list[dict[str, Any]]]:
    """Where the epoch begins, and its system messages after an id as `{"info", "parts"}`, oldest first."""
    epoch = _BEGAN.first(session_id)
    if epoch is None:
        return "", []
    return epoch.began, [_entry(row) for row in _TOLD.rows(session_id, max(epoch.began, after))]


def _entry(row: ContextMessage) -> dict[str, Any]:
    ids = {"sessionID": row.session_id, "messageID": row.id}
    info = {
        "id": row.id,
        "sessionID": row.session_id,
        "role": "system",
        "time": {"created": row.time_created},
    }
    return {"info": info, "parts": [{**ids, "id": row.id, "type": "text", "text": row.text}]}

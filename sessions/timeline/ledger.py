"""Moments of the ledger: calls that changed files, undos and other verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import Q, QuerySet

from sessions.models import FileChange, Operation, Session
from sessions.models.ledger import shown, unpack_path
from sessions.review.outcomes import WRITES
from sessions.store.permissions import family

from .moments import Moment, Touched

_KINDS = {
    "revert": "Undo from a prompt on",
    "unrevert": "Redo",
    "undo": "Undo",
    "redo": "Redo",
    "keep": "Kept staged edits",
    "drop": "Dropped staged edits",
    "restage": "Staged again",
}
_ENTRY = (
    "id", "time_created", "operation_id", "session_id", "message_id", "part_id", "for_message_id", "origin",
    "path", "before", "after", "skipped",
)  # fmt: skip


def entries(session_id: str) -> QuerySet[FileChange]:
    """All that a session, its subagents and verdicts in them wrote, oldest first. An undo that is still being
    carried out is not among it."""
    made = Q(session_id=session_id) | Q(for_session_id=session_id)
    verdicts = Q(operation__isnull=False, session_id__in=family(session_id))
    rows = FileChange.objects.filter(made | verdicts)
    return rows.exclude(operation__state="planned").order_by("id")


def ledger_moments(session: Session) -> list[Moment]:
    """One moment a call that changed files, one an operation."""
    calls: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    operations: dict[str, list[dict[str, Any]]] = {}
    for row in entries(session.id).values(*_ENTRY):
        if row["operation_id"]:
            operations.setdefault(row["operation_id"], []).append(row)
        else:
            calls.setdefault((row["session_id"], row["message_id"], row["part_id"]), []).append(row)
    rows = Operation.objects.filter(Q(id__in=list(operations)) | Q(session_id=session.id))
    done = rows.exclude(state="planned").order_by("id")
    return [
        *(_call(session.id, group) for group in calls.values()),
        *(_operation(row, operations.get(row.id, ())) for row in done),
    ]


def moment_of(session: Session, change: int) -> Moment | None:
    """The call or the operation that an entry belongs to, as it stood with that entry."""
    rows = entries(session.id).filter(id__lte=change)
    last = rows.filter(id=change).values(*_ENTRY).first()
    if last is None:
        return None
    if last["operation_id"]:
        operation = Operation.objects.get(id=last["operation_id"])
        return _operation(operation, list(rows.filter(operation=operation).values(*_ENTRY)))
    place = {name: last[name] for name in ("session_id", "message_id", "part_id")}
    return _call(session.id, list(rows.filter(operation=None, **place).values(*_ENTRY)))


def _call(session_id: str, rows: list[dict[str, Any]]) -> Moment:
    last = rows[-1]
    own = last["session_id"] == session_id
    by_command = any(row["origin"] in ("command", "overlap") for row in rows)
    return Moment(
        key=f"chg-{last['id']}",
        kind="edit",
        time=last["time_created"],
        title="Command" if by_command else "Edit",
        note="" if own else "by a subagent",
        message=last["message_id"] if own else last["for_message_id"],
        part=last["part_id"],
        change=last["id"],
        files=[_touched(row) for row in rows],
    )


def _touched(row: dict[str, Any]) -> Touched:
    return Touched(shown(row["path"]), row["before"], row["after"], row["skipped"])


def _operation(row: Operation, written: Sequence[dict[str, Any]]) -> Moment:
    alone = sum(entry["outcome"] in ("conflict", "unsafe") for entry in row.outcome)
    return Moment(
        key=row.id,
        kind="undo",
        time=max([row.time_created, *(entry["time_created"] for entry in written)]),
        title=_KINDS.get(row.kind, row.kind.capitalize()),
        detail=row.words,
        note=" · ".join(filter(None, [_by(row.actor), f"{alone} left alone" if alone else ""])),
        message=row.message_id,
        change=max((entry["id"] for entry in written), default=0),
        tone="warn" if alone else "",
        files=[_outcome(entry) for entry in row.outcome],
    )


def _outcome(entry: dict[str, Any]) -> Touched:
    applied = entry["outcome"] in WRITES
    return Touched(
        shown(unpack_path(entry["path"])),
        note="" if applied else entry.get("reason") or entry["outcome"],
        additions=entry.get("additions", 0) if applied else 0,
        deletions=entry.get("deletions", 0) if applied else 0,
    )


def _by(actor: str) -> str:
    return f"by {actor}" if actor else ""

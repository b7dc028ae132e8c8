"""Verdicts in the rows: an undo of hunks, files or a scope, and what takes such an operation back."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Max, QuerySet

from sessions.db import durable
from sessions.ids import ascending, now
from sessions.models import FileChange, Operation, Session
from sessions.models.ledger import pack_path

from . import events
from .ledger import announce

_NEWEST = 500  # operations looked through for hunks that can be redone
_PATHS = 500  # of one query


@dataclass(frozen=True, slots=True)
class Later:
    """Who has changed a file after an entry of the ledger, and the content that the newest entry left."""

    names: tuple[str, ...]
    content: str | None
    skipped: bool


def get(project_id: str, operation_id: str) -> Operation | None:
    rows = Operation.objects.select_related("session__project", "project", "of")
    return rows.filter(project_id=project_id, id=operation_id).first()


def begin(
    session: Session,
    kind: str,
    *,
    scope: Mapping[str, Any],
    outcome: Sequence[Mapping[str, Any]],
    hunks: Sequence[Mapping[str, Any]],
    intents: Iterable[FileChange],
    words: str = "",
    actor: str = "",
    of: Operation | None = None,
) -> Operation:
    """Note a verdict with every file it is going to write, before it does."""
    with durable(), transaction.atomic():
        operation = Operation.objects.create(
            id=ascending("opn"),
            project_id=session.project_id,
            session=session,
            kind=kind,
            state="planned",
            scope=dict(scope),
            outcome=list(outcome),
            hunks=list(hunks),
            words=words,
            actor=actor,
            of=of,
            time_created=now(),
        )
        for change in intents:
            change.operation, change.project_id, change.time_created = operation, session.project_id, now()
            change.origin = "undo"
            change.save(force_insert=True)
    return operation


def finish(operation: Operation, outcome: Sequence[Mapping[str, Any]], left_alone: Collection[str]) -> None:
    """Settle a verdict; what it was to write to files in `left_alone` (paths) is struck out."""
    with transaction.atomic():
        operation.state, operation.outcome = "done", list(outcome)
        operation.save(update_fields=["state", "outcome"])
        written = FileChange.objects.filter(operation=operation)
        written.filter(path__in=left_alone).delete()
        if operation.of is not None and not left_alone:
            Operation.objects.filter(id=operation.of_id).update(state="closed")
        if operation.kind == "redo" and operation.of is None:
            _strike(operation, left_alone)
        for change in written:
            announce(change)
        changed(operation.session)


def _strike(operation: Operation, left_alone: Collection[str]) -> None:
    """Hunks that were put back by themselves are no longer among what earlier verdicts took back."""
    skipped = {pack_path(path) for path in left_alone}
    back = {(hunk["path"], hunk["key"]) for hunk in operation.hunks if hunk["path"] not in skipped}
    rows = Operation.objects.filter(project_id=operation.project_id, kind="undo", state="done")
    for row in rows.order_by("-id")[:_NEWEST]:
        left = [hunk for hunk in row.hunks if (hunk["path"], hunk["key"]) not in back]
        if len(left) < len(row.hunks):
            row.hunks, row.state = left, row.state if left else "closed"
            row.save(update_fields=["hunks", "state"])


def changed(session: Session) -> None:
    """Tell pages that a review has something new; call it inside `atomic`."""
    properties = {"sessionID": session.id}
    events.record("review.changed", properties, project=session.project_id, session=session.id)


def later(project_id: str, after: Mapping[str, int]) -> dict[str, Later]:
    """By path, who changed a file after the entry of that id, and what the newest entry left in it."""
    found: dict[str, Later] = {}
    paths = list(after)
    for begin in range(0, len(paths), _PATHS):
        chunk = {path: after[path] for path in paths[begin : begin + _PATHS]}
        rows = FileChange.objects.filter(
            project_id=project_id, path__in=list(chunk), id__gte=min(chunk.values())
        )
        names = _names(rows, chunk)
        for row in _newest(rows):
            found[row.path] = Later(tuple(names.get(row.path, ())), row.after or None, bool(row.skipped))
    return found


def _newest(rows: QuerySet[FileChange]) -> Iterable[FileChange]:
    """The last entry of each file that was carried out."""
    done = rows.exclude(operation__state__in=("planned", "withdrawn"))
    ids = done.order_by().values("path").annotate(newest=Max("id")).values_list("newest", flat=True)
    return FileChange.objects.filter(id__in=list(ids)).only("path", "after", "skipped")


def _names(rows: QuerySet[FileChange], after: Mapping[str, int]) -> dict[str, dict[str, None]]:
    """By path, in words, whose tools changed it; verdicts are shown where they were given."""
    found: dict[str, dict[str, None]] = {}
    owners: dict[str, str] = {}
    made = rows.filter(operation=None).order_by("id")
    for path, pk, origin, session, title in made.values_list(
        "path", "id", "origin", "session_id", "session__title"
    ):
        names = found.setdefault(path, {})
        if pk == after[path]:
            owners[path] = session
            if origin == "formatter":
                names["a formatter"] = None
        elif pk > after[path]:
            names["a later turn" if owners.get(path) == session else f"the session “{title}”"] = None
    return found


def undone_hunks(project_id: str, paths: Collection[str]) -> dict[tuple[str, str], str]:
    """Which operation, still in effect, took back a hunk: by packed path and hunk key."""
    wanted = {pack_path(path) for path in paths}
    rows = Operation.objects.filter(project_id=project_id, kind="undo", state="done").order_by("-id")
    found: dict[tuple[str, str], str] = {}
    for operation_id, hunks in rows.values_list("id", "hunks")[:_NEWEST]:
        for hunk in hunks:
            if hunk["path"] in wanted:
                found.setdefault((hunk["path"], hunk["key"]), operation_id)
    return found


def standing(session_id: str, limit: int) -> list[Operation]:
    """Verdicts on what a session did that stand, oldest first: given in it, or given on its changes."""
    rows = Operation.objects.filter(kind__in=("undo", "drop"), state="done")
    own = rows.filter(session_id=session_id) | rows.filter(changes__session_id=session_id)
    return list(own.distinct().order_by("-id")[:limit])[::-1]

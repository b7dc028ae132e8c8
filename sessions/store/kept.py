"""Verdicts on what is staged, in the rows: noted before files are touched, then settled with the staged rows.

An entry of `Operation.outcome` has, beside what an undo's has: the staged row `before` and `after` (both
without a difference where there is no row), the plan's contents, and the ledger entry (`change`) if the
working tree is written to. So a verdict can be finished after a crash, and taken back for ever.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from django.db import transaction

from sessions.db import durable
from sessions.ids import ascending, now
from sessions.models import FileChange, Operation, Session, StagedFile
from sessions.models.ledger import unpack_path

from .ledger import announce
from .operations import changed
from .staging import StaleEdit, save

KEEP, DROP, RESTAGE = "keep", "drop", "restage"
KINDS: Final = (KEEP, DROP, RESTAGE)
"""Write staged edits to the working tree; let go of them; take back one of these."""

WRITTEN: Final = ("restore", "merge")
APPLIED: Final = (*WRITTEN, "already")
_COLUMNS: Final = (
    "base",
    "content",
    "mode_base",
    "mode",
    "guarded",
    "by_session_id",
    "message_id",
    "part_id",
    "call_id",
    "for_message_id",
    "for_part_id",
)

Entry = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was decided, by whom; `session` is the topmost one."""

    session: Session
    kind: str
    outcome: Sequence[Entry]
    hunks: Sequence[Entry]
    words: str = ""
    actor: str = ""
    of: Operation | None = None
    intents: Mapping[str, FileChange] = field(default_factory=dict)
    """Ledger entries of what is going to be written, by path."""


def snapshot(row: StagedFile) -> dict[str, Any]:
    """A staged row as an entry keeps it."""
    return {name: getattr(row, name) for name in _COLUMNS}


def get(project_id: str, operation_id: str) -> Operation | None:
    """A verdict on what was staged; None for any other operation."""
    rows = Operation.objects.filter(project_id=project_id, id=operation_id, kind__in=KINDS)
    return rows.select_related("session__project", "of").first()


def standing(session_id: str, limit: int) -> list[Operation]:
    """The newest keeps of a session that were not taken back, oldest first."""
    rows = Operation.objects.filter(session_id=session_id, kind=KEEP, state="done")
    return list(rows.order_by("-id")[:limit])[::-1]


def change(entry: Entry) -> FileChange | None:
    """The ledger entry of what was written to the working tree; None where nothing was."""
    return FileChange.objects.filter(id=entry["change"]).first() if entry["change"] else None


def at_once(verdict: Verdict) -> Operation:
    """Note and settle a verdict that writes no file. Raises StaleEdit when the agent has edited meanwhile."""
    with transaction.atomic():
        operation = begin(verdict)
        finish(operation, operation.outcome)
    return operation


def begin(verdict: Verdict) -> Operation:
    """Note a verdict with every file it is going to write."""
    with durable(), transaction.atomic():
        made = {}
        for path, intent in verdict.intents.items():
            intent.project_id, intent.time_created = verdict.session.project_id, now()
            intent.save(force_insert=True)
            made[path] = intent.pk
        noted = [{**entry, "change": made.get(entry["path"])} for entry in verdict.outcome]
        operation = Operation.objects.create(
            id=ascending("opn"),
            project_id=verdict.session.project_id,
            session=verdict.session,
            kind=verdict.kind,
            state="planned",
            scope={"kind": "staged"},
            outcome=noted,
            hunks=list(verdict.hunks),
            words=verdict.words,
            actor=verdict.actor,
            of=verdict.of,
            time_created=now(),
        )
        restaged = [intent for intent in verdict.intents.values() if intent.origin == "undo"]
        FileChange.objects.filter(id__in=[intent.pk for intent in restaged]).update(operation=operation)
    return operation


def finish(operation: Operation, outcome: Sequence[Entry]) -> None:
    """Settle a verdict with what came of each file: the staged rows move, and entries of files that were not
    written go. Raises StaleEdit."""
    with transaction.atomic():
        for entry in outcome:
            made = change(entry)
            if made is not None and entry["outcome"] in WRITTEN:
                announce(made)
            elif made is not None:
                made.delete()
            if entry["outcome"] in APPLIED:
                _move(operation.session, entry)
        operation.state, operation.outcome = "done", list(outcome)
        operation.save(update_fields=["state", "outcome"])
        if operation.of_id:
            Operation.objects.filter(id=operation.of_id).update(state="closed")
        changed(operation.session)


def planned() -> list[Operation]:
    """Verdicts that were begun and not settled: running ones, or those of a process that died."""
    rows = Operation.objects.filter(state="planned", kind__in=KINDS)
    return list(rows.select_related("session", "project").order_by("id"))


def _move(session: Session, entry: Entry) -> None:
    """What the agent staged meanwhile stays; only where the verdict changes the same it is stale."""
    before, after = entry["before"], entry["after"]
    path = unpack_path(entry["path"])
    row = StagedFile.objects.filter(session=session, path=path).first()
    if row is None:
        if before["base"] == before["content"]:
            save(StagedFile(session=session, path=path, **after))
        return
    if row.base == before["base"]:
        row.base, row.mode_base = after["base"], after["mode_base"]
    if row.content == before["content"]:
        row.content, row.mode = after["content"], after["mode"]
    elif after["content"] != before["content"]:
        raise StaleEdit(path)
    save(row)

"""The second half of an undo or redo: write the planned files, then the rows that say so.

It needs nothing but what is noted, so the start of a server finishes with it what a crash cut short.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import Any

from sessions.db import in_db
from sessions.models import FileChange, Operation
from sessions.review.choice import left_out
from sessions.review.filediffs import file_diffs
from sessions.review.outcomes import LEFT_ALONE, as_outcome
from sessions.review.scope import net
from sessions.store import ledger, reverts
from sessions.store.ledger import Point
from sessions.tracking import Tracker
from sessions.undo.apply import apply
from sessions.undo.plan import FilePlan
from sessions.wire.base import FileDiff


async def settle(
    operation: Operation,
    plan: Sequence[FilePlan],
    project: Tracker,
    *,
    already: Collection[str] = (),
) -> Operation:
    """Carry out an operation that was begun, and settle it with what came of each file.

    Paths in `already` were written before a crash. Returns the operation as it is then.
    """
    outcome = await asyncio.to_thread(write, plan, project, already)
    failed = {file.path for file in outcome if file.outcome in LEFT_ALONE[operation.kind]}
    left_alone = failed | left_out(operation)
    undone, remaining = await in_db(_rows, operation, left_alone)
    diffs, patch = await asyncio.to_thread(_diffs, undone, remaining, project)
    if operation.kind == "revert":
        revert = _revert(operation, patch)
        await in_db(reverts.finish_revert, operation, as_outcome(outcome), left_alone, revert, diffs)
    else:
        await in_db(reverts.finish_unrevert, operation, as_outcome(outcome), left_alone, diffs)
    return operation


def write(plan: Sequence[FilePlan], project: Tracker, already: Collection[str] = ()) -> list[FilePlan]:
    """Apply the plan; a file that could not be written has the outcome and reason of that instead."""
    written: dict[str, str | None] = {}
    failed: dict[str, FilePlan] = {}

    def carry_out() -> None:
        done = apply(plan, project.worktree, project.objects, written=already)
        written.update({change.path: change.after for change in done.changes})
        failed.update({file.path: file for file in done.failed})

    project.writing(written, carry_out)
    return [failed.get(file.path, file) for file in plan]


def _rows(operation: Operation, left_alone: set[str]) -> tuple[list[FileChange], list[FileChange]]:
    """What undos have written in all once this one is settled, and the changes of tools that count then."""
    session_id = operation.session_id
    operations = [*reverts.active(session_id), operation]
    undone = [
        row
        for row in reverts.changes_of(operations)
        if row.operation_id != operation.id or row.path not in left_alone
    ]
    taken: set[int] = set()
    if operation.kind == "revert":
        point = Point(operation.message_id, operation.part_id)
        taken = set(reverts.since(session_id, point).values_list("id", flat=True))

    def counts(row: FileChange) -> bool:
        return row.undone_by_id is None if row.path in left_alone else row.pk not in taken

    return undone, [row for row in ledger.undoable(session_id) if counts(row)]


def _diffs(
    undone: list[FileChange], remaining: list[FileChange], project: Tracker
) -> tuple[list[FileDiff], str]:
    patches = (diff.patch or "" for diff in file_diffs(net(undone), project.objects))
    return file_diffs(net(remaining), project.objects), "".join(patches)


def _revert(operation: Operation, patch: str) -> dict[str, Any]:
    """The wire's state of the session; `diff` is what undoing has changed in the files."""
    part = {"partID": operation.part_id} if operation.part_id else {}
    return {"messageID": operation.message_id, **part, "diff": patch}

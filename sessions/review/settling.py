"""The second half of an undo or redo: write the planned files, then the rows that say so.

It needs nothing but what is noted, so the start of a server finishes with it what a crash cut short.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import Any

from sessions.db import in_db
from sessions.models import FileChange, Operation, Session
from sessions.review.filediffs import file_diffs
from sessions.review.outcomes import LEFT_ALONE, WRITES, as_outcome
from sessions.review.scope import net
from sessions.store import ledger, reverts
from sessions.store import sessions as session_store
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
) -> Session:
    """Carry out an operation that was begun, and settle it with what came of each file.

    Paths in `already` were written before a crash. Returns the session as it is then.
    """
    outcome = await asyncio.to_thread(_write, plan, project, already)
    left_alone = {file.path for file in outcome if file.outcome in LEFT_ALONE[operation.kind]}
    undone, remaining = await in_db(_rows, operation, left_alone)
    diffs, patch = await asyncio.to_thread(_diffs, undone, remaining, project)
    if operation.kind == "revert":
        revert = _revert(operation, patch)
        await in_db(reverts.finish_revert, operation, as_outcome(outcome), left_alone, revert, diffs)
    else:
        await in_db(reverts.finish_unrevert, operation, as_outcome(outcome), left_alone, diffs)
    session = await in_db(session_store.get, operation.session_id)
    return session or operation.session


def _write(plan: Sequence[FilePlan], project: Tracker, already: Collection[str]) -> list[FilePlan]:
    """Apply the plan; a file that could not be written has the outcome and reason of that instead."""
    due = [file for file in plan if file.outcome in WRITES and file.path not in already]
    for file in due:
        project.wrote(file.path, file.result)
    failed = {file.path: file for file in apply(due, project.worktree, project.objects).failed}
    return [failed.get(file.path, file) for file in plan]


def _rows(operation: Operation, left_alone: set[str]) -> tuple[list[FileChange], list[FileChange]]:
    """What undos have written in all once this one is settled, and the changes of tools that count then."""
    operations = [*reverts.active(operation.session_id), operation]
    undone = [row for row in reverts.changes_of(operations) if row.path not in left_alone]
    point = Point(operation.message_id, operation.part_id)
    reverting = operation.kind == "revert"

    def counts(row: FileChange) -> bool:
        if row.path in left_alone:
            return row.undone_by_id is None
        return not (reverting and point.covers(row, operation.session_id))

    return undone, [row for row in ledger.undoable(operation.session_id) if counts(row)]


def _diffs(
    undone: list[FileChange], remaining: list[FileChange], project: Tracker
) -> tuple[list[FileDiff], str]:
    patches = (diff.patch or "" for diff in file_diffs(net(undone), project.objects))
    return file_diffs(net(remaining), project.objects), "".join(patches)


def _revert(operation: Operation, patch: str) -> dict[str, Any]:
    """The wire's state of the session; `diff` is what undoing has changed in the files."""
    part = {"partID": operation.part_id} if operation.part_id else {}
    return {"messageID": operation.message_id, **part, "diff": patch}

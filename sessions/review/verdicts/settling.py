"""The second half of a verdict: write the planned files, then the rows that say so. Also after a crash."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sessions.db import in_db
from sessions.models import FileChange, Operation
from sessions.review.filediffs import file_diffs
from sessions.review.outcomes import WRITES, as_outcome
from sessions.review.scope import net
from sessions.review.settling import write
from sessions.store import ledger, operations, reverts, summary
from sessions.tracking import Tracker
from sessions.undo.plan import FilePlan

LEFT_ALONE = ("conflict", "unsafe", "missing")


async def settle(
    operation: Operation, plans: Sequence[FilePlan], project: Tracker, *, already: Collection[str] = ()
) -> Operation:
    """Carry out an operation that was begun and note what came of it. Paths in `already` were written before
    a crash. Returns the operation as it is then.
    """
    ended = await asyncio.to_thread(write, plans, project, already)
    left_alone = {file.path for file in ended if file.outcome in LEFT_ALONE}
    await in_db(operations.finish, operation, _outcome(operation, ended), left_alone)
    for session_id, rows in (await in_db(_remaining, operation)).items():
        diffs = await asyncio.to_thread(file_diffs, net(rows), project.objects)
        await in_db(summary.write, session_id, diffs)
    return operation


def _outcome(operation: Operation, ended: Sequence[FilePlan]) -> list[Mapping[str, Any]]:
    """What was noted when it began, with how each file ended; a hunk of a file that was left alone was so
    too.
    """
    made: list[Mapping[str, Any]] = []
    for noted, entry in zip(operation.outcome, as_outcome(ended), strict=True):
        hunks = dict(noted.get("hunks", {}))
        if entry["outcome"] not in WRITES:
            hunks = {key: entry["outcome"] if was in WRITES else was for key, was in hunks.items()}
        made.append({**noted, **entry, "hunks": hunks})
    return made


def _remaining(operation: Operation) -> dict[str, list[FileChange]]:
    """What the sessions whose changes were touched have changed in all now."""
    touched = {row.session_id for row in reverts.changes_of([operation])} | {operation.session_id}
    return {session_id: list(ledger.by_tools(session_id)) for session_id in touched}

"""The second half of a verdict on what is staged: write the planned files, then the rows."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sessions.db import in_db
from sessions.models import FileChange, Operation
from sessions.models.ledger import unpack_path
from sessions.review.alone import ProjectBusy, project_lock
from sessions.review.filediffs import file_diffs
from sessions.review.scope import net
from sessions.snapshots.objects import object_id
from sessions.store import kept, ledger, summary
from sessions.tracking import Tracker, tracker
from sessions.undo.apply import apply
from sessions.undo.files import UnsafePath, read_file, same_mode
from sessions.undo.plan import FilePlan

logger = logging.getLogger(__name__)

Entry = Mapping[str, Any]


async def settle(operation: Operation, project: Tracker, *, already: Collection[str] = ()) -> Operation:
    """Carry out a verdict that was begun. Paths in `already` were written before a crash."""
    outcome = await asyncio.to_thread(_write, operation.outcome, project, already)
    await in_db(kept.finish, operation, outcome)
    for session_id, rows in (await in_db(_changed, operation)).items():
        diffs = await asyncio.to_thread(file_diffs, net(rows), project.objects)
        await in_db(summary.write, session_id, diffs)
    return operation


async def recover() -> None:
    """Finish the verdicts that a crash cut short: each file is old or new, and what was decided stands."""
    for operation in await in_db(kept.planned):
        try:
            with project_lock(operation.project_id):
                project = await asyncio.to_thread(tracker, operation.project)
                already = await asyncio.to_thread(_written, operation.outcome, project)
                await settle(operation, project, already=already)
        except ProjectBusy:
            logger.info("%s %s is being carried out", operation.kind, operation.id)
        except Exception:
            logger.exception("%s %s could not be finished", operation.kind, operation.id)
        else:
            logger.warning("%s %s was cut short and is finished now", operation.kind, operation.id)


def _write(outcome: Sequence[Entry], project: Tracker, already: Collection[str]) -> list[dict[str, Any]]:
    """Apply the plans; a file that could not be written has the outcome and reason of that instead."""
    due = [_plan(entry) for entry in outcome if entry["change"] is not None]
    written: dict[str, str | None] = {}
    failed: dict[str, FilePlan] = {}

    def carry_out() -> None:
        done = apply(due, project.worktree, project.objects, written=already)
        written.update({change.path: change.after for change in done.changes})
        failed.update({file.path: file for file in done.failed})

    project.writing(written, carry_out)
    return [_ended(entry, failed.get(unpack_path(entry["path"]))) for entry in outcome]


def _ended(entry: Entry, failed: FilePlan | None) -> dict[str, Any]:
    if failed is None:
        return dict(entry)
    hunks = dict.fromkeys(entry["hunks"], failed.outcome)
    return {**entry, "outcome": failed.outcome, "reason": failed.reason, "hunks": hunks}


def _plan(entry: Entry) -> FilePlan:
    return FilePlan(
        path=unpack_path(entry["path"]),
        outcome=entry["outcome"],
        additions=entry["additions"],
        deletions=entry["deletions"],
        reason=entry["reason"],
        folders=tuple(unpack_path(folder) for folder in entry["folders"]),
        **entry["plan"],
    )


def _written(outcome: Sequence[Entry], project: Tracker) -> set[str]:
    """Paths of the files that are already as they were to be."""
    plans = [_plan(entry) for entry in outcome if entry["change"] is not None]
    return {plan.path for plan in plans if _is_written(plan, project)}


def _is_written(plan: FilePlan, project: Tracker) -> bool:
    try:
        now = read_file(project.worktree, plan.path)
    except (OSError, UnsafePath):
        return False
    if now is None or plan.result is None:
        return now is None and plan.result is None
    return object_id(now.content) == plan.result and same_mode(now.mode, plan.mode)


def _changed(operation: Operation) -> dict[str, list[FileChange]]:
    """What the sessions whose files were written have changed in all now."""
    written = [kept.change(entry) for entry in operation.outcome]
    touched = {change.session_id for change in written if change is not None}
    return {session_id: list(ledger.by_tools(session_id)) for session_id in touched}

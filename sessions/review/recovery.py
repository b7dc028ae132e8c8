"""Finish or withdraw the undos and redos that a crash cut short; runs before turns are taken up."""

from __future__ import annotations

import asyncio
import logging
from pathlib import PurePosixPath

from sessions.db import in_db
from sessions.models import FileChange, Operation
from sessions.review import settling
from sessions.review.alone import ProjectBusy, left_by_undo, project_lock
from sessions.review.outcomes import as_plan
from sessions.review.verdicts import settling as verdicts
from sessions.snapshots.objects import object_id
from sessions.staging.settling import recover as recover_staging
from sessions.store import leases, reverts
from sessions.tracking import Tracker, tracker
from sessions.undo.files import UnsafePath, read_file, remove_empty_folder, remove_leftovers, same_kind

logger = logging.getLogger(__name__)

SETTLES = {
    "revert": settling.settle,
    "unrevert": settling.settle,
    "undo": verdicts.settle,
    "redo": verdicts.settle,
}
"""By kind of operation, what carries out the rest of one that was begun."""


async def recover() -> None:
    """Where a file was written, the rest is written too; where none was, nothing has happened."""
    for operation in await in_db(reverts.planned):
        try:
            with project_lock(operation.project_id):
                await _recover(operation)
        except ProjectBusy:
            logger.info("%s %s is being carried out", operation.kind, operation.id)
        except Exception:
            logger.exception("%s %s could not be finished", operation.kind, operation.id)
    await recover_staging()


async def _recover(operation: Operation) -> None:
    project = await asyncio.to_thread(tracker, operation.project)
    intents = await in_db(reverts.changes_of, [operation])
    written = await asyncio.to_thread(_found, intents, project)
    if written:
        await SETTLES[operation.kind](operation, as_plan(operation, intents), project, already=written)
    else:
        await asyncio.to_thread(_remove_folders, intents, project)
        await in_db(reverts.withdraw, operation)
    logger.warning(
        "%s %s of session %s was cut short after %d of %d files: %s",
        operation.kind,
        operation.id,
        operation.session_id,
        len(written),
        len(intents),
        "finished now" if written else "withdrawn, no file was changed",
    )
    if left_by_undo(operation.session.lease_owner):
        await in_db(leases.free, operation.session)


def _found(intents: list[FileChange], project: Tracker) -> set[str]:
    """Paths of the files that are as they were to be; half-written neighbours are removed."""
    for path in {PurePosixPath(row.path).parent: row.path for row in intents}.values():
        remove_leftovers(project.worktree, path)
    return {row.path for row in intents if _is_written(row, project)}


def _is_written(row: FileChange, project: Tracker) -> bool:
    try:
        now = read_file(project.worktree, row.path)
    except (OSError, UnsafePath):
        return False
    if now is None or not row.after:
        return now is None and not row.after
    return object_id(now.content) == row.after and same_kind(now.mode, row.mode_after)


def _remove_folders(intents: list[FileChange], project: Tracker) -> None:
    """The folders made for files that were not written after all."""
    for row in intents:
        for parent in PurePosixPath(row.path).parents[: row.new_folders]:
            remove_empty_folder(project.worktree, str(parent))

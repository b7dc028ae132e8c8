"""Finish or withdraw the undos and redos that a crash cut short; runs before turns are taken up."""

from __future__ import annotations

import asyncio
import logging

from sessions.db import in_db
from sessions.models import FileChange, Operation
from sessions.review.alone import ProjectBusy, left_by_undo, project_lock
from sessions.review.outcomes import as_plan
from sessions.review.settling import settle
from sessions.snapshots.objects import object_id
from sessions.store import reverts
from sessions.store import sessions as session_store
from sessions.tracking import Tracker, tracker
from sessions.undo.files import UnsafePath, read_file, same_kind

logger = logging.getLogger(__name__)


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


async def _recover(operation: Operation) -> None:
    project = await asyncio.to_thread(tracker, operation.project)
    intents = await in_db(reverts.changes_of, [operation])
    written = await asyncio.to_thread(_written, intents, project)
    if written:
        await settle(operation, as_plan(operation, intents), project, already=written)
    else:
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
        await in_db(session_store.release, operation.session_id, operation.session.lease_owner)


def _written(intents: list[FileChange], project: Tracker) -> set[str]:
    """Paths of the files that are already as they were to be."""
    return {row.path for row in intents if _is_written(row, project)}


def _is_written(row: FileChange, project: Tracker) -> bool:
    try:
        now = read_file(project.worktree, row.path)
    except (OSError, UnsafePath):
        return False
    if now is None or not row.after:
        return now is None and not row.after
    return object_id(now.content) == row.after and same_kind(now.mode, row.mode_after)

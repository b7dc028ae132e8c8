"""Take back any entry of the log: what it would do, and doing it. Each kind of entry has its own engine."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass

from sessions.db import in_db
from sessions.models import Operation, Session
from sessions.operations.reading import Call
from sessions.review.alone import RevertRefused
from sessions.review.outcomes import as_change
from sessions.review.reverting import bring_back
from sessions.review.verdicts import verdicts
from sessions.review.verdicts.listing import listing
from sessions.review.verdicts.scopes import Scope
from sessions.staging.verdicts import StagingRefused, take_back
from sessions.store import reverts
from sessions.store.kept import KINDS as STAGING
from sessions.tracking import tracker
from sessions.undo.plan import FilePlan, plan_undo


@dataclass(frozen=True, slots=True)
class Inverse:
    """What taking an entry back would do, in words too. `free` tells that single files may be left out,
    `again` that changes come and do not go."""

    files: list[FilePlan]
    words: str
    free: bool = False
    again: bool = False


async def preview_call(call: Call) -> Inverse:
    scope, picks = await _picks(call, None)
    files = await verdicts.preview(call.newest.session, scope, picks)
    words = "What this call changed is taken back; what others changed since stays."
    return Inverse(files, words, free=True)


async def preview_operation(operation: Operation) -> Inverse:
    """An undo of the conversation that can be redone takes all of them in the session with it."""
    if operation.kind in STAGING:
        return Inverse([], "What this decided is taken back; in review mode it waits for you again.")
    active = operation.kind == "revert" and operation.state == "done"
    of = await in_db(lambda: list(reverts.active(operation.session_id))) if active else [operation]
    changes = [as_change(row) for row in await in_db(reverts.changes_of, of)]
    project = await asyncio.to_thread(tracker, operation.project)
    files = await asyncio.to_thread(plan_undo, changes, project.objects, project.worktree)
    return Inverse(files, _words(operation, active), again=operation.kind in ("undo", "revert"))


async def invert_call(call: Call, paths: Collection[str] | None, actor: str) -> Operation:
    """`paths` are the files to take back, None for all. Raises RevertRefused."""
    scope, picks = await _picks(call, paths)
    return await verdicts.undo(call.newest.session, scope, picks, actor=actor)


async def invert_operation(operation: Operation, actor: str) -> Operation:
    """Raises RevertRefused."""
    session = operation.session
    if operation.kind in STAGING:
        try:
            return await take_back(session, operation.id, actor=actor)
        except StagingRefused as error:
            raise RevertRefused(str(error)) from error
    if operation.kind == "revert" and operation.state == "done":
        return await bring_back(session, actor=actor) or operation
    return await verdicts.redo(session, operation.id, actor=actor)


async def _picks(call: Call, paths: Collection[str] | None) -> tuple[Scope, dict[str, None]]:
    scope = Scope("call", call.newest.message_id, call.newest.part_id)
    session: Session = call.newest.session
    files = (await listing(session, scope)).files
    return scope, {file.key: None for file in files if paths is None or file.path in paths}


def _words(operation: Operation, active: bool) -> str:
    if active:
        return "The conversation comes back, with what was undone in the files."
    if operation.kind in ("undo", "revert"):
        return "What was undone in the files comes back; what others changed since stays."
    return "What was brought back is undone again; what others changed since stays."

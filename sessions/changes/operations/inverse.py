"""Take back any entry of the log: what it would do, and doing it. Each kind of entry has its own engine."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass

from django.utils.translation import gettext

from sessions.changes.history.entries import CallEntry
from sessions.changes.operations import hunks
from sessions.changes.operations.conversation import bring_back
from sessions.changes.operations.engine import plan_roots
from sessions.changes.operations.staged import take_back
from sessions.changes.review.verdicts import Scope, listing
from sessions.changes.roots import roots_of
from sessions.changes.undo.plan import FilePlan
from sessions.core.db import in_db
from sessions.core.models import Operation, Session
from sessions.core.store import operations
from sessions.core.store.operations import STAGED, Kind, State


@dataclass(frozen=True, slots=True)
class Inverse:
    """What taking an entry back would do, in words too. `free` tells that single files may be left out,
    `again` that changes come and do not go."""

    files: list[FilePlan]
    words: str
    free: bool = False
    again: bool = False


async def preview_call(call: CallEntry) -> Inverse:
    scope, picks = await _picks(call, None)
    files = await hunks.preview(call.newest.session, scope, picks)
    words = gettext("What this call changed is taken back; what others changed since stays.")
    return Inverse(files, words, free=True)


async def preview_operation(operation: Operation) -> Inverse:
    """An undo of the conversation that can be redone takes all of them in the session with it."""
    if operation.kind in STAGED:
        return Inverse([], gettext("What this decided is taken back; in review mode it waits for you again."))
    active = operation.kind == Kind.REVERT and operation.state == State.DONE
    of = await in_db(lambda: list(operations.active(operation.session_id))) if active else [operation]
    rows = await in_db(operations.changes_of, of)
    roots = await in_db(roots_of, operation.project, rows)
    files = await asyncio.to_thread(plan_roots, [roots.change(row) for row in rows], roots)
    return Inverse(files, _words(operation, active), again=operation.kind in (Kind.UNDO, Kind.REVERT))


async def invert_call(call: CallEntry, paths: Collection[str] | None, actor: str) -> Operation:
    """`paths` are the files to take back, None for all. Raises Refused."""
    scope, picks = await _picks(call, paths)
    return await hunks.undo(call.newest.session, scope, picks, actor=actor)


async def invert_operation(operation: Operation, actor: str) -> Operation:
    """Raises Refused."""
    session = operation.session
    if operation.kind in STAGED:
        return await take_back(session, operation.id, actor=actor)
    if operation.kind == Kind.REVERT and operation.state == State.DONE:
        return await bring_back(session, actor=actor) or operation
    return await hunks.redo(session, operation.id, actor=actor)


async def _picks(call: CallEntry, paths: Collection[str] | None) -> tuple[Scope, dict[str, None]]:
    scope = Scope("call", call.newest.message_id, call.newest.part_id)
    session: Session = call.newest.session
    files = (await listing(session, scope)).files
    return scope, {file.key: None for file in files if paths is None or file.path in paths}


def _words(operation: Operation, active: bool) -> str:
    if active:
        return gettext("The conversation comes back, with what was undone in the files.")
    if operation.kind in (Kind.UNDO, Kind.REVERT):
        return gettext("What was undone in the files comes back; what others changed since stays.")
    if operation.kind == Kind.EDIT:
        return gettext("The files become as they were before; what others changed since stays.")
    return gettext("What was brought back is undone again; what others changed since stays.")

"""Move a session, with those below it and what is in no commit, to a git worktree of its own.

First the worktree is made whole, with a note that takes it away again. Then one transaction moves the rows,
and notes what goes from the original folder; from there on nothing is taken back, only finished: after a
crash by the next start (docs/decisions/0045).
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Collection, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop

from sessions.changes.checkout_git import git
from sessions.changes.operations.engine import as_intents, as_outcome, settle
from sessions.changes.operations.files import plan_write
from sessions.changes.operations.lock import ProjectBusy, Refused, its_turn, leased, left_by_undo
from sessions.changes.roots import Roots
from sessions.changes.snapshots.objects import ObjectMissing
from sessions.changes.tracking import Tracker, tracker
from sessions.changes.undo.files import AS_NEW, FileState, UnsafePath, read_file
from sessions.changes.undo.plan import WRITES, FilePlan
from sessions.changes.upkeep.caretaker import addresses
from sessions.changes.worktrees.making import (
    CannotFork,
    begin,
    check_room,
    copy_file,
    home_of,
    whole_or_nothing,
)
from sessions.changes.worktrees.notes import Note
from sessions.changes.worktrees.opening import free_slug
from sessions.changes.worktrees.uncommitted import (
    Uncommitted,
    as_committed,
    has_left,
    stage,
    to_unstage,
    uncommitted,
)
from sessions.core.db import durable, in_db
from sessions.core.models import FileChange, Operation, Project, Session
from sessions.core.models.ledger import shown, unpack_path
from sessions.core.store import events, moves, operations, permissions, projects, questions
from sessions.core.store import sessions as session_store
from sessions.core.store.operations import LEAVE, Kind

_WORKS = gettext_noop("The agent works in this session. Stop the turn first.")

Which = Literal["all", "own"]
"""All that is in no commit, or the files of it that the session changed."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What a session would take along. `refusal` says why it cannot be moved now, else it is empty."""

    found: Uncommitted | None = None
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Moved:
    """The session where it is now; `operation` is what took its files from the original folder. `left` are
    files that went along and are there still, each with the reason; `staged`: what went from the index is
    still in it, until the next start."""

    session: Session
    operation: Operation | None = None
    left: tuple[tuple[str, str], ...] = ()
    staged: bool = False


async def preview(session: Session) -> Preview:
    """What `move` would take along now; changes nothing."""
    try:
        own = await in_db(_movable, session)
        return Preview(await asyncio.to_thread(uncommitted, Path(session.project.worktree), own))
    except CannotFork as problem:
        return Preview(refusal=str(problem))


async def move(
    session: Session, *, name: str = "", which: Which = "all", keep: bool = False, actor: str = ""
) -> Moved:
    """To a new worktree of this `name`, or of the session's title. With `keep` the changes stay in the
    original folder as well. Once begun it is carried through. Raises CannotFork, with all as it was."""
    return await asyncio.shield(asyncio.create_task(_move(session, name, which, keep, actor)))


async def _move(session: Session, name: str, which: Which, keep: bool, actor: str) -> Moved:
    rows = await in_db(moves.whole, session)
    async with AsyncExitStack() as held:
        try:
            await held.enter_async_context(its_turn(session.project_id))
            for row in rows:
                if row.time_deleted is None:
                    await held.enter_async_context(leased(row))
        except ProjectBusy as problem:
            raise CannotFork(str(problem)) from problem
        except Refused as problem:
            raise CannotFork(gettext(_WORKS)) from problem
        own = await in_db(_movable, session)
        made = await asyncio.to_thread(_make, session, name, own, which, keep)
        try:
            await asyncio.to_thread(
                _keep_contents, session.project, made.project, await in_db(moves.named, rows)
            )
            operation = await in_db(_note_move, session, made, actor)
        except BaseException:
            if not await in_db(projects.known_at, made.project.worktree):
                await asyncio.to_thread(made.note.discard)
            raise
        return await asyncio.to_thread(_leave, await in_db(session_store.get, session.id), operation, made)


def _movable(session: Session) -> set[str]:
    """The paths of the files that a session and those below it changed. Raises CannotFork."""
    if session.parent_id:
        raise CannotFork(gettext("This session belongs to the one that started it: move that one."))
    rows = moves.whole(session)
    if any(row.lease_owner and not left_by_undo(row.lease_owner) for row in rows):
        raise CannotFork(gettext(_WORKS))
    if permissions.pending_below(session.id) or questions.pending_below(session.id):
        raise CannotFork(gettext("The agent waits for your answer in this session. Give it first."))
    return moves.paths(rows)


@dataclass(frozen=True, slots=True)
class _Made:
    """A worktree that is whole, and what goes from the original folder once the session has moved."""

    project: Project
    note: Note
    known: Tracker
    leaving: Sequence[FilePlan]
    intents: Sequence[FileChange]


def _make(session: Session, name: str, own: Collection[str], which: Which, keep: bool) -> _Made:
    original = session.project
    top, known = Path(original.worktree), tracker(original)
    found = uncommitted(top, own)
    chosen = {file.path for file in found.files if file.own or which == "all"}
    home = home_of(original.id)
    check_room(home, found.source)
    slug = free_slug(top, home, name, session.title)
    note = begin(top, found.source.commit, home, slug, () if keep else to_unstage(found, chosen))
    with whole_or_nothing(note):
        leaving = _fill(found, chosen, note, known)
        folder = Path(note.place.folder)
        project = projects.worktree_row(original.worktree_of or original, folder, note.place.branch)
        if keep or not any(plan.outcome in WRITES for plan in leaving):
            return _Made(project, note, known, (), ())
        known.catch_up()
        return _Made(project, note, known, leaving, as_intents(leaving, Roots(known)))


def _fill(found: Uncommitted, chosen: Collection[str], note: Note, known: Tracker) -> list[FilePlan]:
    """Write the worktree: what is chosen as it is now, the rest as committed. What is to become of the chosen
    in the original folder."""
    top, place = found.source.top, note.place
    making = Path(place.making)
    git(top, "worktree", "add", "--no-checkout", "-b", place.branch, place.making, place.commit)
    git(making, "read-tree", "HEAD")
    changed = {file.path for file in found.files}
    for path in (*found.source.files, *found.ignored):
        if path in chosen or path not in changed:
            copy_file(top / path, making / path)
    with as_committed(making, changed) as committed:
        for path in changed - {*chosen}:
            if os.path.lexists(committed / path):
                copy_file(committed / path, making / path)
        leaving = [_plan(path, making, committed, known) for path in sorted(chosen)]
    stage(making, {path: entry for path, entry in found.staged.items() if path in chosen})
    git(top, "worktree", "move", place.making, place.folder)
    return leaving


def _plan(path: str, making: Path, committed: Path, known: Tracker) -> FilePlan:
    """What makes of a file that went along, in the original folder, what the commit has. It is seen as it
    came to the worktree: what was written to it since stays."""
    now, wanted = _state(making, path), _state(committed, path)
    if wanted is not None and not stat.S_ISLNK(wanted.mode):
        runs = wanted.mode & 0o100
        mode = stat.S_IFREG | (0o755 if runs else 0o644) | AS_NEW
        if now is not None and stat.S_ISREG(now.mode) and now.mode & 0o100 == runs:
            mode = now.mode
        wanted = FileState(wanted.content, mode)
    folders = [str(parent) for parent in PurePosixPath(path).parents[:-1]] if wanted is None else []
    return plan_write(known, path, now, wanted, folders=folders)


def _state(folder: Path, path: str) -> FileState | None:
    """A file; None also where a folder is."""
    try:
        return read_file(folder, path)
    except UnsafePath:
        return None


def _keep_contents(original: Project, project: Project, named: Sequence[tuple[Any, ...]]) -> None:
    """What the history of the sessions names is in the new project's store too."""
    source, target = tracker(original).objects, tracker(project).objects
    for address in addresses(named):
        try:
            target.put(source.get(address))
        except ObjectMissing:  # as missing there as here
            continue


def _note_move(session: Session, made: _Made, actor: str) -> Operation | None:
    """One transaction: the sessions are there, and what goes from the original folder is noted in it."""
    original = session.project
    with durable(), events.together():
        moves.move(moves.whole(session_store.locked(session.id)), original, made.project)
        if not made.intents:
            return None
        left = session_store.by_hand(original)
        for change in made.intents:
            change.session = left
        noted: dict[str, Any] = {"outcome": as_outcome(made.leaving), "actor": actor}
        scope = {"kind": "hand", "act": LEAVE, "session": session.id}
        return operations.begin(left, Kind.EDIT, made.intents, scope=scope, **noted)


def _leave(session: Session | None, operation: Operation | None, made: _Made) -> Moved:
    """Take from the original folder what went along."""
    assert session is not None
    left: tuple[tuple[str, str], ...] = ()
    if operation is not None:
        operation = settle(operation, Roots(made.known))
        left = tuple(
            (shown(unpack_path(entry["path"])), entry["reason"])
            for entry in operation.outcome
            if entry["outcome"] not in (*WRITES, "already")
        )
    staged = not has_left(made.note.place)
    if staged:
        made.note.release()
    else:
        made.note.close()
    return Moved(session, operation, left, staged)

"""Fork a session, on request into a git worktree of its own with the files as they were at a point."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sessions.changes.tracking import as_change, tracker
from sessions.changes.undo.plan import FilePlan, plan_undo
from sessions.changes.worktrees.making import CannotFork, Made, look, make
from sessions.changes.worktrees.notes import clear, left_behind
from sessions.changes.worktrees.uncommitted import has_left
from sessions.core.db import in_db
from sessions.core.models import FileChange, Project, Session, StagedFile
from sessions.core.store import forks, moves, projects

__all__ = ["CannotFork", "Forked", "Preview", "fork", "fork_with_files", "preview", "recover"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Preview:
    """What a fork with files would take back, file by file.

    `refusal` says why there can be no worktree, else it is empty; `problem` why changes of commands are not
    known, if so.
    """

    files: tuple[FilePlan, ...] = ()
    left_out: tuple[str, ...] = ()
    refusal: str = ""
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Forked:
    """The fork; `files` and `left_out` as in the preview, but what came of it."""

    session: Session
    files: tuple[FilePlan, ...] = ()
    left_out: tuple[str, ...] = ()


async def preview(session: Session, before: str) -> Preview:
    """What a fork before a message (empty: at the end) would come to now; changes nothing."""
    changes = await in_db(forks.changes_since, session.id, before)
    return await asyncio.to_thread(_preview, session.project, changes)


async def fork(session: Session, before: str) -> Session:
    """The conversation alone; the copy works in the same folder."""
    return await in_db(forks.fork, session, before)


async def fork_with_files(session: Session, before: str) -> Forked:
    """A fork in a worktree of its own; carried through when the caller is cancelled. Raises CannotFork."""
    return await asyncio.shield(asyncio.create_task(_fork_with_files(session, before)))


async def recover() -> None:
    """Take away what a crash left half made, and finish what is known; run it at the start."""
    for path, place in await asyncio.to_thread(lambda: list(left_behind())):
        if await in_db(projects.known_at, place.folder):
            if not await asyncio.to_thread(has_left, place):
                continue
        else:
            logger.warning("a worktree was half made when the server ended: %s", place.folder)
            await asyncio.to_thread(clear, place)
        path.unlink(missing_ok=True)


def _preview(project: Project, changes: Sequence[FileChange]) -> Preview:
    known = tracker(project)
    try:
        source = look(Path(project.worktree))
    except CannotFork as error:
        return Preview(refusal=str(error))
    plan = plan_undo([as_change(row) for row in changes], known.objects, known.worktree)
    return Preview(tuple(plan), source.left_out, problem=known.problem)


async def _fork_with_files(session: Session, before: str) -> Forked:
    known = await asyncio.to_thread(tracker, session.project)
    changes = [as_change(row) for row in await in_db(forks.changes_since, session.id, before)]
    top = Path(session.project.worktree)
    made = await asyncio.to_thread(make, session.project_id, top, session.title, changes, known.objects)
    try:
        project = projects.worktree_row(session.project, made.folder, made.branch)
        staged = [] if before else await in_db(forks.staged, session.id)
        await asyncio.to_thread(_keep_contents, session.project, project, staged)
        directory = made.folder / moves.below(session, session.project)
        copy = await in_db(forks.fork, session, before, project=project, directory=str(directory))
    except BaseException:
        await asyncio.to_thread(made.note.discard)
        raise
    await asyncio.to_thread(_settle, made, directory)
    return Forked(copy, made.plan, made.left_out)


def _keep_contents(original: Project, project: Project, staged: Sequence[StagedFile]) -> None:
    """What waits in review mode is kept in the new project's store too, but for what lies beside it."""
    source, target = tracker(original).objects, tracker(project).objects
    own = [row for row in staged if row.project_id == original.id]
    for oid in {oid for row in own for oid in (row.base, row.content) if oid}:
        target.put(source.get(oid))


def _settle(made: Made, directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    made.note.close()

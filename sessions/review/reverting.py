"""Undo from a message on, and redo (design law 7): the files through three-way merges, then the conversation.

An undo while another is active takes both into one plan, so each file is written once and ends exactly where
it would be after bringing everything back first. A person may want only the conversation of it, some of the
files, or only files: that is a verdict on all that was done from there on, and the conversation stays.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace

from sessions.db import in_db
from sessions.models import FileChange, Operation, Session
from sessions.review.alone import RevertRefused, alone, leased
from sessions.review.choice import Choice, What, scope_from
from sessions.review.outcomes import WRITES, as_change, as_intents, as_outcome
from sessions.review.settling import settle
from sessions.review.uncovered import Uncovered, uncovered
from sessions.review.verdicts.listing import listing
from sessions.review.verdicts.scopes import Scope
from sessions.review.verdicts.verdicts import undo
from sessions.store import reverts
from sessions.store import sessions as session_store
from sessions.store.ledger import Point
from sessions.tracking import OVERLAP, Tracker, tracker
from sessions.undo.plan import FilePlan, plan_undo

__all__ = [
    "Preview",
    "RevertRefused",
    "UnknownMessage",
    "bring_back",
    "preview",
    "revert",
    "undo_from",
    "unrevert",
]

_UNSURE = "another command ran at the same time, and some of this may be its"


class UnknownMessage(Exception):
    """There is no such message or part in the session."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What an undo would do. `problem` says why changes of commands are not among `files`, if so;
    `not_covered` names what may have been changed and stays as it is."""

    files: tuple[FilePlan, ...]
    point: Point
    problem: str | None = None
    not_covered: tuple[Uncovered, ...] = ()


async def preview(session: Session, message_id: str, part_id: str | None = None) -> Preview:
    """What `revert` would do now; changes nothing. Raises UnknownMessage."""
    point = await _point(session, message_id, part_id)
    project = await asyncio.to_thread(tracker, session.project)
    changes = await in_db(_to_take_back, session.id, point)
    plan = await _plan(changes, project)
    return Preview(tuple(plan), point, project.problem, await uncovered(session, point, project))


async def revert(
    session: Session,
    message_id: str,
    part_id: str | None = None,
    *,
    what: What = "both",
    paths: Iterable[str] | None = None,
    actor: str = "",
) -> Session:
    """Take back what the session did from a message (or part) on. Returns the session as it is then.

    `paths` are the files to take back, None for all. Conflicts leave their file alone; `reverts.active` has
    the outcome. Once begun it is carried through, also when the caller is cancelled. Raises UnknownMessage,
    RevertRefused.
    """
    choice = Choice(what, None if paths is None else frozenset(paths))
    await undo_from(session, message_id, part_id, choice, actor=actor)
    return await in_db(session_store.get, session.id) or session


async def undo_from(
    session: Session, message_id: str, part_id: str | None, choice: Choice, *, actor: str = ""
) -> Operation:
    """The same, giving what was done: of kind `revert`, or `undo` where only files were wanted."""
    return await asyncio.shield(_undo_from(session, message_id, part_id, choice, actor))


async def unrevert(session: Session, *, actor: str = "") -> Session:
    """Bring back what undos took back; without one nothing happens. Raises RevertRefused."""
    await bring_back(session, actor=actor)
    return await in_db(session_store.get, session.id) or session


async def bring_back(session: Session, *, actor: str = "") -> Operation | None:
    """The same, giving what was done; None when there was nothing to do."""
    return await asyncio.shield(_bring_back(session, actor))


async def _undo_from(
    session: Session, message_id: str, part_id: str | None, choice: Choice, actor: str
) -> Operation:
    if choice.what == "files":
        async with leased(session):
            return await _undo_files(session, await _point(session, message_id, part_id), choice, actor)
    async with alone(session):
        point = await _point(session, message_id, part_id)
        project = await asyncio.to_thread(tracker, session.project)
        plan = await _plan(await in_db(_to_take_back, session.id, point), project)
        wanted, left_out = choice.split(plan)
        if choice.what == "both":
            wanted += [
                FilePlan(file.name, "uncovered", reason=file.reason)
                for file in await uncovered(session, point, project)
            ]
        return await _carry_out(session, "revert", point, wanted, left_out, actor)


async def _undo_files(session: Session, point: Point, choice: Choice, actor: str) -> Operation:
    scope = Scope("from", point.message_id, point.part_id)
    files = (await listing(session, scope)).files
    picks = {file.key: None for file in files if choice.wants(file.path)}
    if not picks:
        raise RevertRefused("There is no file to take back.")
    return await undo(session, scope, picks, actor=actor)


async def _bring_back(session: Session, actor: str) -> Operation | None:
    async with alone(session):
        undone = await in_db(lambda: list(reverts.active(session.id)))
        if not undone:
            return None
        point = Point(undone[0].message_id, undone[0].part_id)
        project = await asyncio.to_thread(tracker, session.project)
        plan = await _plan(await in_db(reverts.changes_of, undone), project)
        return await _carry_out(session, "unrevert", point, plan, (), actor)


async def _carry_out(
    session: Session,
    kind: str,
    point: Point,
    plan: Sequence[FilePlan],
    left_out: Sequence[str],
    actor: str,
) -> Operation:
    project = await asyncio.to_thread(tracker, session.project)
    intents = await asyncio.to_thread(as_intents, plan, project.worktree)
    scope = scope_from(point, left_out)
    operation = await in_db(
        reverts.begin, session, kind, point, as_outcome(plan), intents, scope=scope, actor=actor
    )
    return await settle(operation, plan, project)


async def _point(session: Session, message_id: str, part_id: str | None) -> Point:
    point = await in_db(reverts.locate, session.id, message_id, part_id or "")
    if point is None:
        raise UnknownMessage("This message is not part of the session.")
    return point


async def _plan(rows: Iterable[FileChange], project: Tracker) -> list[FilePlan]:
    listed = list(rows)
    changes = [as_change(row) for row in listed]
    plan = await asyncio.to_thread(plan_undo, changes, project.objects, project.worktree)
    unsure = {row.path for row in listed if row.origin == OVERLAP}
    return [replace(file, reason=_UNSURE) if _writes(file, unsure) else file for file in plan]


def _writes(file: FilePlan, paths: Set[str]) -> bool:
    return file.path in paths and file.outcome in WRITES


def _to_take_back(session_id: str, point: Point) -> Sequence[FileChange]:
    """What tools changed from a point on, and what active undos wrote after it."""
    return [*reverts.since(session_id, point), *reverts.changes_of(reverts.active(session_id))]

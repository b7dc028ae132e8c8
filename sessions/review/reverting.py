"""Undo from a message on, and redo (design law 7): the files through three-way merges, then the conversation.

An undo while another is active takes both into one plan, so each file is written once and ends exactly where
it would be after bringing everything back first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from sessions.db import in_db
from sessions.models import FileChange, Operation, Session
from sessions.review.alone import RevertRefused, alone
from sessions.review.outcomes import as_change, as_intents, as_outcome
from sessions.review.settling import settle
from sessions.store import ledger, reverts
from sessions.store.ledger import Point
from sessions.tracking import Tracker, tracker
from sessions.undo.plan import FilePlan, plan_undo

__all__ = ["Preview", "RevertRefused", "UnknownMessage", "preview", "revert", "unrevert"]


class UnknownMessage(Exception):
    """There is no such message or part in the session."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What an undo would do. `problem` says why changes of commands are not among `files`, if so."""

    files: tuple[FilePlan, ...]
    point: Point
    problem: str | None = None


async def preview(session: Session, message_id: str, part_id: str | None = None) -> Preview:
    """What `revert` would do now; changes nothing. Raises UnknownMessage."""
    point = await _point(session, message_id, part_id)
    project = await asyncio.to_thread(tracker, session.project)
    plan = await _plan(session, project, point)
    return Preview(tuple(plan), point, project.problem)


async def revert(session: Session, message_id: str, part_id: str | None = None) -> Session:
    """Take back what the session did from a message (or part) on. Returns the session as it is then.

    Conflicts leave their file alone; `reverts.active` has the outcome. Once begun it is carried through, also
    when the caller is cancelled. Raises UnknownMessage, RevertRefused.
    """
    return await asyncio.shield(_revert(session, message_id, part_id))


async def unrevert(session: Session) -> Session:
    """Bring back what undos took back; without one nothing happens. Raises RevertRefused."""
    return await asyncio.shield(_unrevert(session))


async def _revert(session: Session, message_id: str, part_id: str | None) -> Session:
    async with alone(session):
        point = await _point(session, message_id, part_id)
        return await _carry_out(session, "revert", point)


async def _unrevert(session: Session) -> Session:
    async with alone(session):
        first = await in_db(_first_active, session.id)
        if first is None:
            return session
        return await _carry_out(session, "unrevert", Point(first.message_id, first.part_id))


async def _carry_out(session: Session, kind: str, point: Point) -> Session:
    project = await asyncio.to_thread(tracker, session.project)
    plan = await _plan(session, project, point if kind == "revert" else None)
    intents = as_intents(plan)
    operation = await in_db(reverts.begin, session, kind, point, as_outcome(plan), intents)
    return await settle(operation, plan, project)


async def _point(session: Session, message_id: str, part_id: str | None) -> Point:
    point = await in_db(reverts.locate, session.id, message_id, part_id or "")
    if point is None:
        raise UnknownMessage("This message is not part of the session.")
    return point


async def _plan(session: Session, project: Tracker, point: Point | None) -> list[FilePlan]:
    rows = await in_db(_to_take_back, session.id, point)
    changes = [as_change(row) for row in rows]
    return await asyncio.to_thread(plan_undo, changes, project.objects, project.worktree)


def _to_take_back(session_id: str, point: Point | None) -> Sequence[FileChange]:
    """What tools changed from a point on (None: nothing), and what active undos wrote after it."""
    undone = reverts.changes_of(reverts.active(session_id))
    made = ledger.undoable(session_id).filter(point.onward(session_id)) if point else ()
    return [*made, *undone]


def _first_active(session_id: str) -> Operation | None:
    return reverts.active(session_id).first()

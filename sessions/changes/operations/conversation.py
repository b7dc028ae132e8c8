"""Undo from a message on, and redo: the files through three-way merges, then the conversation.

An undo while another is active takes both into one plan, so each file is written once and ends exactly where
it would be after bringing everything back first. A person may want only the conversation of it, some of the
files, or only files: that is an undo of all that was done from there on, and the conversation stays.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from django.utils.translation import gettext

from sessions.changes.operations import hunks
from sessions.changes.operations.engine import as_intents, as_outcome, carry_out, plan_roots
from sessions.changes.operations.lock import Refused, alone, leased
from sessions.changes.review.uncovered import Uncovered, changed_elsewhere, uncovered
from sessions.changes.review.verdicts import Scope, listing
from sessions.changes.roots import Roots, roots_of
from sessions.changes.tracking import tracker
from sessions.changes.undo.patch import changes_of
from sessions.changes.undo.plan import WRITES, FilePlan, plan_undo
from sessions.core.db import in_db, in_db_sync
from sessions.core.models import FileChange, Operation, Session
from sessions.core.models.ledger import pack_path, shown, unpack_path
from sessions.core.store import ledger, operations
from sessions.core.store import sessions as session_store
from sessions.core.store.ledger import Point
from sessions.core.store.operations import Kind

What = Literal["both", "conversation", "files"]

_UNSURE = "another command ran at the same time, and some of this may be its"
_LISTS = {
    "restore": "changed",
    "merge": "changed",
    "conflict": "conflicts",
    "missing": "leftAlone",
    "unsafe": "leftAlone",
    "uncovered": "notCovered",
}


class UnknownMessage(Exception):
    """There is no such message or part in the session."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What a person wants of an undo: the conversation, the files or both. `paths` are the files to take
    back; None means every one, also those no preview has shown."""

    what: What = "both"
    paths: frozenset[str] | None = None

    def wants(self, path: str) -> bool:
        if self.what == "conversation":
            return False
        return self.paths is None or path in self.paths

    def split(self, plan: Iterable[FilePlan]) -> tuple[list[FilePlan], list[str]]:
        """The plans to carry out, and the paths left out. Nothing is asked about a file that would not be
        written: it is told of with the others."""
        listed = list(plan)
        asked = [file for file in listed if self.what == "conversation" or file.outcome in WRITES]
        left_out = {file.path for file in asked if not self.wants(file.path)}
        return [file for file in listed if file.path not in left_out], sorted(left_out)


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
    return await asyncio.to_thread(_preview, session, message_id, part_id)


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

    `paths` are the files to take back, None for all. Conflicts leave their file alone; `operations.active`
    has the outcome. Once begun it is carried through, also when the caller is cancelled. Raises
    UnknownMessage, Refused.
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
    """Bring back what undos took back; without one nothing happens. Raises Refused."""
    await bring_back(session, actor=actor)
    return await in_db(session_store.get, session.id) or session


async def bring_back(session: Session, *, actor: str = "") -> Operation | None:
    """The same, giving what was done; None when there was nothing to do."""

    async def run() -> Operation | None:
        async with alone(session):
            return await asyncio.to_thread(_bring_back, session, actor)

    return await asyncio.shield(run())


def told(operation: Operation | None) -> dict[str, list[dict[str, str]]]:
    """For a client: the files that an undo or redo changed, those it left alone because of conflicts, because
    of something else, and those it knows nothing of, each with the reason."""
    lists: dict[str, list[dict[str, str]]] = {name: [] for name in _LISTS.values()}
    for entry in operation.outcome if operation else ():
        if (name := _LISTS.get(entry["outcome"])) is not None:
            lists[name].append({"file": shown(unpack_path(entry["path"])), "reason": entry["reason"]})
    return lists


async def _undo_from(
    session: Session, message_id: str, part_id: str | None, choice: Choice, actor: str
) -> Operation:
    if choice.what == "files":
        async with leased(session):
            point = await in_db(_point, session, message_id, part_id)
            scope = Scope("from", point.message_id, point.part_id)
            files = (await listing(session, scope)).files
            picks = {file.key: None for file in files if choice.wants(file.path)}
            if not picks:
                raise Refused(gettext("There is no file to take back."))
            return await hunks.undo(session, scope, picks, actor=actor)
    async with alone(session):
        return await asyncio.to_thread(_revert, session, message_id, part_id, choice, actor)


def _preview(session: Session, message_id: str, part_id: str | None) -> Preview:
    point, changes = in_db_sync(_to_take_back, session, message_id, part_id)
    project = tracker(session.project)
    plan = _plan(changes, in_db_sync(roots_of, session.project, changes))
    return Preview(tuple(plan), point, project.problem, uncovered(session, point, project))


def _revert(session: Session, message_id: str, part_id: str | None, choice: Choice, actor: str) -> Operation:
    point, changes = in_db_sync(_to_take_back, session, message_id, part_id)
    roots = in_db_sync(roots_of, session.project, changes)
    wanted, left_out = choice.split(_plan(changes, roots))
    if choice.what == "both":
        wanted += [
            FilePlan(file.name, "uncovered", reason=file.reason)
            for file in uncovered(session, point, tracker(session.project))
        ]
    return _carry_out(session, Kind.REVERT, point, wanted, left_out, roots, actor)


def _bring_back(session: Session, actor: str) -> Operation | None:
    point, changes = in_db_sync(_taken_back, session)
    if point is None:
        return None
    roots = in_db_sync(roots_of, session.project, changes)
    plan = _plan(changes, roots) if changes else _plan_elsewhere(session, point)
    return _carry_out(session, Kind.UNREVERT, point, plan, (), roots, actor)


def _carry_out(
    session: Session,
    kind: Kind,
    point: Point,
    plan: Sequence[FilePlan],
    left_out: Sequence[str],
    roots: Roots,
    actor: str,
) -> Operation:
    intents = as_intents(plan, roots)
    for change in intents:
        change.session, change.message_id = session, point.message_id
    scope: dict[str, Any] = {"kind": "from", "message": point.message_id, "part": point.part_id}
    scope["left_out"] = [pack_path(path) for path in left_out]
    return carry_out(
        session,
        kind,
        roots,
        intents,
        outcome=as_outcome(plan),
        message_id=point.message_id,
        part_id=point.part_id,
        scope={key: value for key, value in scope.items() if value},
        actor=actor,
    )


def _plan(rows: Sequence[FileChange], roots: Roots) -> list[FilePlan]:
    plan = plan_roots(map(roots.change, rows), roots)
    unsure = {roots.path(row) for row in rows if row.origin == FileChange.Origin.OVERLAP}
    return [
        replace(file, reason=_UNSURE) if file.path in unsure and file.outcome in WRITES else file
        for file in plan
    ]


def _plan_elsewhere(session: Session, point: Point) -> list[FilePlan]:
    """Of a redo of what was undone before the session came here: a patch says what that did to the files."""
    project, revert = tracker(session.project), session.revert or {}
    known = changes_of(revert.get("diff", ""), project.objects, project.worktree)
    plan = plan_undo(known, project.objects, project.worktree)
    named = {file.path for file in plan}
    rest = [file for file in changed_elsewhere(session, point, project) if file.name not in named]
    return plan + [FilePlan(file.name, "uncovered", reason=file.reason) for file in rest]


def _point(session: Session, message_id: str, part_id: str | None) -> Point:
    point = ledger.locate(session.id, message_id, part_id or "")
    if point is None:
        raise UnknownMessage(gettext("This message is not part of the session."))
    return point


def _to_take_back(
    session: Session, message_id: str, part_id: str | None
) -> tuple[Point, Sequence[FileChange]]:
    """Where it begins, what tools changed from there on, and what active undos wrote after it."""
    point = _point(session, message_id, part_id)
    undone = operations.changes_of(operations.active(session.id))
    return point, [*ledger.since(session.id, point), *undone]


def _taken_back(session: Session) -> tuple[Point | None, Sequence[FileChange]]:
    """Where the first active undo begins, and what all of them wrote; of one that came with the session
    nothing."""
    undone = list(operations.active(session.id))
    if undone:
        return Point(undone[0].message_id, undone[0].part_id), operations.changes_of(undone)
    came = Session.objects.values_list("revert", flat=True).get(id=session.id)
    return (Point(came["messageID"], came.get("partID", "")) if came else None), ()

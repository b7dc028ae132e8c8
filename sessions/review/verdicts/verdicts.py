"""Give a verdict and take it back (design law 7): noted in rows first, then written, each file in one step.

A verdict needs nothing of the session: it works while the agent works, on the files as they are. Redo takes
back exactly what an operation wrote, by three-way merge, for ever; taking back a redo undoes again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import Any

from sessions.db import in_db
from sessions.models import FileChange, Operation, Session
from sessions.review.alone import RevertRefused, its_turn
from sessions.review.outcomes import as_change, as_intents, as_outcome
from sessions.review.verdicts.judging import judge
from sessions.review.verdicts.listing import listing
from sessions.review.verdicts.planning import (
    Picks,
    Planned,
    belongs,
    intents,
    outcomes,
    plan_back,
    plan_picks,
)
from sessions.review.verdicts.scopes import Scope
from sessions.review.verdicts.settling import settle
from sessions.snapshots.objects import object_id
from sessions.store import operations, reverts
from sessions.tracking import Tracker, tracker
from sessions.undo.files import NEW_FILE, UnsafePath, read_file
from sessions.undo.plan import FilePlan, plan_undo

_TAKEN_BACK = {"undo": "done", "redo": "done", "revert": "final", "unrevert": "done"}
"""Which operations can be taken back, and in which state: an undo of the conversation has a redo of its own
until a new prompt makes it final; then its files can be brought back."""


class VerdictRefused(RevertRefused):
    """A verdict that cannot be given now; the text is for the person."""


async def preview(session: Session, scope: Scope, picks: Picks) -> list[FilePlan]:
    """What `undo` would do now; changes nothing."""
    found = await listing(session, scope, picks)
    planned = await asyncio.to_thread(plan_picks, found, picks)
    return [plan for file in planned for plan in file.plans]


async def undo(
    session: Session, scope: Scope, picks: Picks, *, words: str = "", actor: str = ""
) -> Operation:
    """Take back what was picked of a scope; the operation's outcome says what came of each hunk. Once begun
    it is carried through. Raises VerdictRefused.
    """
    return await asyncio.shield(_undo(session, scope, picks, words, actor))


async def redo(session: Session, operation_id: str, *, actor: str = "") -> Operation:
    """Take back an operation of the project. Raises VerdictRefused."""
    return await asyncio.shield(_redo(session, operation_id, actor))


async def put_back(
    session: Session, scope: Scope, key: str, hunks: Collection[str], *, actor: str = ""
) -> Operation:
    """Redo single hunks of a file, whatever took them out of it. Raises VerdictRefused."""
    return await asyncio.shield(_put_back(session, scope, key, hunks, actor))


async def resolve(
    session: Session,
    scope: Scope,
    key: str,
    hunks: Collection[str] | None,
    content: bytes | None,
    seen: str,
    *,
    words: str = "",
    actor: str = "",
) -> Operation:
    """Write what a person made of a conflict (None: no file), if the file still is what they saw (its object
    id, empty for no file). Raises VerdictRefused.
    """
    return await asyncio.shield(_resolve(session, scope, key, hunks, content, seen, words, actor))


async def _undo(session: Session, scope: Scope, picks: Picks, words: str, actor: str) -> Operation:
    async with its_turn(session.project_id):
        found = await listing(session, scope, picks)
        planned = await asyncio.to_thread(plan_picks, found, picks)
        if not planned:
            raise VerdictRefused("This is no longer among the changes. Look at them again.")
        return await _carry_out(session, scope, found.project, planned, words, actor)


async def _carry_out(
    session: Session,
    scope: Scope,
    project: Tracker,
    planned: Sequence[Planned],
    words: str,
    actor: str,
    kind: str = "undo",
) -> Operation:
    plans = {plan.path: plan for file in planned for plan in file.plans}
    noted = outcomes(planned, plans)
    taken = [hunk for file in planned for hunk in file.taken]
    operation = await in_db(
        operations.begin,
        session,
        kind,
        scope=scope.wire(),
        outcome=noted,
        hunks=taken,
        intents=await asyncio.to_thread(intents, planned, session.id, project.worktree),
        words=words,
        actor=actor,
    )
    return await settle(operation, list(plans.values()), project)


async def _redo(session: Session, operation_id: str, actor: str) -> Operation:
    async with its_turn(session.project_id):
        of = await in_db(operations.get, session.project_id, operation_id)
        if of is None or of.kind not in _TAKEN_BACK:
            raise VerdictRefused("This is not known here.")
        if of.state != _TAKEN_BACK[of.kind]:
            raise VerdictRefused("This was taken back already.")
        project = await asyncio.to_thread(tracker, session.project)
        rows = await in_db(reverts.changes_of, [of])
        plans = await asyncio.to_thread(_inverse, rows, project)
        operation = await in_db(
            operations.begin,
            of.session,
            "redo" if of.kind in ("undo", "revert") else "undo",
            scope=of.scope,
            outcome=_noted(of, plans),
            hunks=of.hunks,
            intents=await asyncio.to_thread(_intents, plans, rows, project),
            actor=actor,
            of=of,
        )
        return await settle(operation, plans, project)


async def _put_back(
    session: Session, scope: Scope, key: str, hunks: Collection[str], actor: str
) -> Operation:
    async with its_turn(session.project_id):
        found = await listing(session, scope, (key,))
        file = found.file(key)
        planned = await asyncio.to_thread(plan_back, file, hunks, found) if file else None
        if planned is None:
            raise VerdictRefused("This is in the file already, or no longer among the changes.")
        return await _carry_out(session, scope, found.project, [planned], "", actor, "redo")


async def _resolve(
    session: Session,
    scope: Scope,
    key: str,
    hunks: Collection[str] | None,
    content: bytes | None,
    seen: str,
    words: str,
    actor: str,
) -> Operation:
    async with its_turn(session.project_id):
        found = await listing(session, scope, (key,))
        file = found.file(key)
        if file is None:
            raise VerdictRefused("This file is no longer among the changes.")
        plan = await asyncio.to_thread(_settled_by_hand, found.project, file.path, content, seen)
        steps = await asyncio.to_thread(judge, file, found)
        known = {judged.key for step in steps for judged in step.hunks.values()}
        picked = known if hunks is None else known & set(hunks)
        taken = [{"path": key, "key": one, "line": 1, "removed": "", "added": ""} for one in sorted(picked)]
        planned = Planned((plan,), dict.fromkeys(picked, plan.outcome), taken, file.owner)
        return await _carry_out(session, scope, found.project, [planned], words, actor)


def _settled_by_hand(project: Tracker, path: str, content: bytes | None, seen: str) -> FilePlan:
    try:
        now = read_file(project.worktree, path)
    except (OSError, UnsafePath) as error:
        raise VerdictRefused(f"The file cannot be written: {error}") from error
    oid = object_id(now.content) if now else None
    if (oid or "") != seen:
        raise VerdictRefused("The file has been changed since you opened it. Look at it again.")
    mode = now.mode if now else None
    if content is None:
        return FilePlan(path, "merge" if now else "already", oid, mode)
    result = project.objects.put(content)
    return FilePlan(path, "already" if result == oid else "merge", oid, mode, result, mode or NEW_FILE)


def _inverse(rows: Sequence[FileChange], project: Tracker) -> list[FilePlan]:
    return plan_undo([as_change(row) for row in rows], project.objects, project.worktree)


def _noted(of: Operation, plans: Sequence[FilePlan]) -> list[dict[str, Any]]:
    hunks = {entry["path"]: entry.get("hunks", {}) for entry in of.outcome}
    return [
        {**entry, "hunks": dict.fromkeys(hunks.get(entry["path"], {}), entry["outcome"])}
        for entry in as_outcome(plans)
    ]


def _intents(plans: Sequence[FilePlan], rows: Sequence[FileChange], project: Tracker) -> list[FileChange]:
    owners = {row.path: row for row in rows}
    made = as_intents(plans, project.worktree)
    return [belongs(change, owners[change.path], "") for change in made]

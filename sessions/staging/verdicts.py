"""Keep and drop what is staged, and take that back (issue 4: review mode).

Keeping writes onto the files as they are now, three-way; what conflicts stays staged. It needs nothing of the
session: it works while the agent works, one verdict at a time in a project.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from sessions.db import in_db
from sessions.models import FileChange, Operation, Session, StagedFile
from sessions.models.ledger import pack_path, shown, unpack_path
from sessions.review.alone import ProjectBusy, its_turn
from sessions.review.outcomes import as_intents
from sessions.staging.moves import Move, Snapshot
from sessions.staging.planning import Drawn, Picks, everything, plan_drop, plan_keep, plan_settled
from sessions.staging.restaging import plan_restage
from sessions.staging.settling import settle
from sessions.store import kept, staging
from sessions.store.kept import DROP, KEEP, RESTAGE, Verdict
from sessions.store.staging import StaleEdit
from sessions.tracking import Tracker, tracker

_AGAIN = 5
OWN_SETTINGS = (
    "Only the agent's own settings wait. Each takes a yes of its own: keep it by its name, or in its diff."
)


class StagingRefused(Exception):
    """A verdict that cannot be given now; the text is for the person. `outcome` has the files it was on."""

    def __init__(self, words: str, outcome: Sequence[Mapping[str, Any]] = ()) -> None:
        super().__init__(words)
        self.outcome = outcome


async def keep(
    session: Session, picks: Picks | None, *, drawn: Drawn = None, words: str = "", actor: str = ""
) -> Operation:
    """Write what was picked into the working tree; None is all but the agent's own settings. The outcome says
    what came of each file; one in conflict, or not as `drawn`, goes on waiting. Raises StagingRefused."""
    return await asyncio.shield(_keep(session, picks, drawn, words, actor))


async def drop(
    session: Session, picks: Picks | None, *, drawn: Drawn = None, words: str = "", actor: str = ""
) -> Operation:
    """Let go of what was picked; None is all. The working tree is not touched. Raises StagingRefused."""
    return await asyncio.shield(_drop(session, picks, drawn, words, actor))


async def resolve(
    session: Session,
    picks: Picks,
    content: bytes | None,
    seen: str,
    *,
    drawn: Drawn = None,
    words: str = "",
    actor: str = "",
) -> Operation:
    """Keep one file as a person settled its conflict (`plan_settled`). Raises StagingRefused."""
    return await asyncio.shield(_resolve(session, picks, content, seen, drawn, words, actor))


async def take_back(session: Session, operation_id: str, *, actor: str = "") -> Operation:
    """Undo a verdict: what was kept leaves the working tree and waits again, what was dropped waits again.
    The operation that comes of it can be taken back in its turn. Raises StagingRefused."""
    return await asyncio.shield(_take_back(session, operation_id, actor))


async def _keep(session: Session, picks: Picks | None, drawn: Drawn, words: str, actor: str) -> Operation:
    root = await in_db(staging.topmost, session)
    async with _locked(root.project_id):
        project = await asyncio.to_thread(tracker, root.project)
        rows = await in_db(staging.files, root)
        wanted = everything(rows, guarded=False) if picks is None else picks
        if rows and not wanted:
            raise StagingRefused(OWN_SETTINGS)
        moves = await asyncio.to_thread(plan_keep, rows, wanted, project, drawn)
        _check(moves)
        return await _write(Verdict(root, KEEP, _entries(moves), _noted(moves), words, actor), moves, project)


async def _resolve(
    session: Session, picks: Picks, content: bytes | None, seen: str, drawn: Drawn, words: str, actor: str
) -> Operation:
    root = await in_db(staging.topmost, session)
    async with _locked(root.project_id):
        project = await asyncio.to_thread(tracker, root.project)
        rows = await in_db(staging.files, root)
        moves = await asyncio.to_thread(plan_settled, rows, picks, content, seen, project, drawn)
        _check(moves)
        return await _write(Verdict(root, KEEP, _entries(moves), _noted(moves), words, actor), moves, project)


async def _drop(session: Session, picks: Picks | None, drawn: Drawn, words: str, actor: str) -> Operation:
    root = await in_db(staging.topmost, session)
    async with _locked(root.project_id):
        project = await asyncio.to_thread(tracker, root.project)
        for _ in range(_AGAIN):
            rows = await in_db(staging.files, root)
            wanted = everything(rows, guarded=True) if picks is None else picks
            moves = await asyncio.to_thread(plan_drop, rows, wanted, project, drawn)
            _check(moves)
            verdict = Verdict(root, DROP, _entries(moves), _noted(moves), words, actor)
            try:
                return await in_db(kept.at_once, verdict)
            except StaleEdit:
                continue  # the agent edited the file a moment ago
    raise StagingRefused("The agent is editing this file just now. Try again in a moment.")


async def _take_back(session: Session, operation_id: str, actor: str) -> Operation:
    root = await in_db(staging.topmost, session)
    async with _locked(root.project_id):
        project = await asyncio.to_thread(tracker, root.project)
        of = await in_db(kept.get, root.project_id, operation_id)
        if of is None or of.session_id != root.id:
            raise StagingRefused("This is not known here.")
        if of.state != "done":
            raise StagingRefused("This was taken back already.")
        rows = {row.path: row for row in await in_db(staging.files, root)}
        written = await in_db(_changes, of)
        moves = await asyncio.to_thread(_restaged, of, rows, written, project)
        _check(moves)
        verdict = Verdict(root, _opposite(of), _entries(moves), of.hunks, "", actor, of)
        if any(move.writes for move in moves):
            return await _write(verdict, moves, project)
        try:
            return await in_db(kept.at_once, verdict)
        except StaleEdit as error:
            raise StagingRefused(f"The agent is editing {error} just now. Try again in a moment.") from error


async def _write(verdict: Verdict, moves: Sequence[Move], project: Tracker) -> Operation:
    plans = [move.plan for move in moves if move.writes]
    intents = await asyncio.to_thread(as_intents, plans, project.worktree)
    rows = {move.plan.path: move.before for move in moves}
    for intent in intents:
        _belongs(intent, rows[intent.path], verdict)
    by_path = {pack_path(intent.path): intent for intent in intents}
    operation = await in_db(kept.begin, replace(verdict, intents=by_path))
    return await settle(operation, project)


def _belongs(intent: FileChange, row: Snapshot, verdict: Verdict) -> None:
    """A kept edit is a change of the call that staged it, so a turn's undo takes it back as well."""
    root = verdict.session
    intent.origin = "undo" if verdict.kind == RESTAGE else "kept"
    intent.session_id = row["by_session_id"] or root.id
    intent.message_id, intent.part_id, intent.call_id = row["message_id"], row["part_id"], row["call_id"]
    if row["for_message_id"]:
        intent.for_session_id = root.id
        intent.for_message_id, intent.for_part_id = row["for_message_id"], row["for_part_id"]


def _check(moves: Sequence[Move]) -> None:
    if not moves:
        raise StagingRefused("Nothing of this waits any more. Look at it again.")
    if not any(move.applies for move in moves):
        raise StagingRefused(left_words(entries := _entries(moves)), entries)


def left_words(outcome: Iterable[Mapping[str, Any]]) -> str:
    """Why files of a verdict go on waiting; empty when none does."""
    left = [entry for entry in outcome if entry["outcome"] not in kept.APPLIED]
    words = [f"{shown(unpack_path(entry['path']))}: {entry['reason']}." for entry in left]
    if any(entry["outcome"] == "conflict" for entry in left):
        words.append("Keep it in the review to choose between both sides.")
    return " ".join(words)


def _opposite(of: Operation) -> str:
    if of.kind != RESTAGE:
        return RESTAGE
    return KEEP if any(entry["change"] for entry in of.outcome) else DROP


def _restaged(
    of: Operation, rows: Mapping[str, StagedFile], written: Mapping[str, FileChange], project: Tracker
) -> list[Move]:
    applied = [entry for entry in of.outcome if entry["outcome"] in kept.APPLIED]
    paths = [(entry, unpack_path(entry["path"])) for entry in applied]
    return [plan_restage(entry, path, rows.get(path), written.get(path), project) for entry, path in paths]


def _changes(of: Operation) -> dict[str, FileChange]:
    found = [kept.change(entry) for entry in of.outcome]
    return {change.path: change for change in found if change is not None}


def _entries(moves: Sequence[Move]) -> list[dict[str, Any]]:
    return [move.entry() for move in moves]


def _noted(moves: Sequence[Move]) -> list[Mapping[str, Any]]:
    return [hunk for move in moves if move.applies for hunk in move.noted]


@asynccontextmanager
async def _locked(project_id: str) -> AsyncIterator[None]:
    try:
        async with its_turn(project_id):
            yield
    except ProjectBusy as error:
        raise StagingRefused(str(error)) from error

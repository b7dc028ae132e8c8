"""Undo and redo of hunks, files and scopes, on the files as they are.

It needs nothing of the session: it works while the agent works. A redo takes back exactly what an operation
wrote, by three-way merge, for ever; taking back a redo undoes again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop

from sessions.changes.diffs.hunks import pieces, without
from sessions.changes.diffs.lines import split_lines
from sessions.changes.operations.engine import as_intents, as_outcome, carry_out, plan_roots
from sessions.changes.operations.lock import Refused, in_turn_of
from sessions.changes.review.verdicts import (
    Listing,
    ReviewedFile,
    Scope,
    Step,
    judge,
    pick_key,
    projects_in,
    read_listing,
)
from sessions.changes.roots import roots_of
from sessions.changes.snapshots.changes import Change
from sessions.changes.undo.plan import WRITES, FilePlan, Outcome, plan_by_hand
from sessions.core.db import in_db, in_db_sync
from sessions.core.models import FileChange, Operation, Session
from sessions.core.models.ledger import pack_path
from sessions.core.store import operations
from sessions.core.store.operations import Kind, State

Picks = Mapping[str, Collection[str] | None]
"""By file key the hunk keys; None for the whole file."""

_TAKEN_BACK: dict[str, State] = {
    Kind.UNDO: State.DONE,
    Kind.REDO: State.DONE,
    Kind.REVERT: State.FINAL,
    Kind.UNREVERT: State.DONE,
    Kind.EDIT: State.DONE,
}
"""Which operations can be taken back, and in which state: an undo of the conversation has a redo of its own
until a new prompt makes it final; then its files can be brought back."""

_SHOWN = 600  # characters of a hunk's text that are kept to tell the agent of it
_TOLD = 200  # hunks of a file
_UNDONE: dict[str, Outcome] = {"gone": "already", "changed": "conflict", "missing": "missing"}
_WHY = {
    "already": gettext_noop("it is no longer in the file"),
    "conflict": gettext_noop("the same lines have been changed since"),
    "missing": gettext_noop("the file has been removed since"),
}


@dataclass(frozen=True, slots=True)
class Planned:
    """One file: what is written, what becomes of each hunk, and the hunks taken back, as they are noted. A
    renamed file has two plans."""

    plans: tuple[FilePlan, ...]
    hunks: Mapping[str, Outcome]
    taken: Sequence[Mapping[str, Any]]
    owner: FileChange | None = None

    def outcome(self) -> list[dict[str, Any]]:
        """Its entries of `Operation.outcome`."""
        made = as_outcome(self.plans)
        for entry in made:
            ended = entry["outcome"] if entry["outcome"] not in WRITES else ""
            entry["hunks"] = {key: ended or outcome for key, outcome in self.hunks.items()}
        return made


async def preview(session: Session, scope: Scope, picks: Picks) -> list[FilePlan]:
    """What `undo` would do now; changes nothing."""

    def planned() -> list[FilePlan]:
        files = plan_picks(read_listing(session, scope, picks), picks)
        return [plan for file in files for plan in file.plans]

    return await asyncio.to_thread(planned)


async def undo(
    session: Session, scope: Scope, picks: Picks, *, words: str = "", actor: str = ""
) -> Operation:
    """Take back what was picked of a scope; the operation's outcome says what came of each hunk. Once begun
    it is carried through. Raises Refused."""

    def work() -> Operation:
        found = read_listing(session, scope, picks)
        planned = plan_picks(found, picks)
        if not planned:
            raise Refused(gettext("This is no longer among the changes. Look at them again."))
        return _carry_out(session, Kind.UNDO, found, planned, words, actor)

    return await in_turn_of(await asyncio.to_thread(projects_in, session, scope), work)


async def redo(session: Session, operation_id: str, *, actor: str = "") -> Operation:
    """Take back an operation of the project. Raises Refused."""
    _, rows = await in_db(_known, session.project_id, operation_id)
    known = {session.project_id, *(row.project_id for row in rows)}
    return await in_turn_of(known, _redo, session, operation_id, actor)


async def put_back(
    session: Session, scope: Scope, key: str, hunks: Collection[str], *, actor: str = ""
) -> Operation:
    """Redo single hunks of a file, whatever took them out of it. Raises Refused."""

    def work() -> Operation:
        found = read_listing(session, scope, (key,))
        file = found.file(key)
        planned = _plan_back(file, hunks, found) if file else None
        if planned is None:
            raise Refused(gettext("This is in the file already, or no longer among the changes."))
        return _carry_out(session, Kind.REDO, found, [planned], "", actor)

    return await in_turn_of(await asyncio.to_thread(projects_in, session, scope), work)


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
    """Write what a person made of a conflict (`plan_by_hand`). Raises Refused."""

    def work() -> Operation:
        found = read_listing(session, scope, (key,))
        file = found.file(key)
        if file is None:
            raise Refused(gettext("This file is no longer among the changes."))
        root, path = found.roots.at(file.path)
        plan = plan_by_hand(path, content, seen, root.objects, root.worktree)
        plan = replace(plan, path=file.path)
        if plan.outcome == "unsafe":
            raise Refused(gettext("The file cannot be written: %(reason)s") % {"reason": plan.reason})
        if plan.outcome == "conflict":
            raise Refused(gettext("The file has been changed since you opened it. Look at it again."))
        known = _states(judge(file, found)).keys()
        picked = known if hunks is None else known & set(hunks)
        taken = [_everything(key, one) for one in sorted(picked)]
        planned = Planned((plan,), dict.fromkeys(picked, plan.outcome), taken, file.owner)
        return _carry_out(session, Kind.UNDO, found, [planned], words, actor)

    return await in_turn_of(await asyncio.to_thread(projects_in, session, scope), work)


def plan_picks(found: Listing, picks: Picks) -> list[Planned]:
    """Plan the undo of what was picked; files that are no longer listed are passed over. Those that are
    picked whole are planned together: they may make room for each other. Blocks."""
    files = [file for file in found.files if file.key in picks]
    whole = [change for file in files if picks[file.key] is None for change in file.whole]
    together = plan_roots(whole, found.roots)
    plans = {plan.path: plan for plan in together}
    return [_plan(file, picks[file.key], found, plans) for file in files]


def _redo(session: Session, operation_id: str, actor: str) -> Operation:
    of, rows = in_db_sync(_known, session.project_id, operation_id)
    if of is None or of.kind not in _TAKEN_BACK:
        raise Refused(gettext("This is not known here."))
    if of.state != _TAKEN_BACK[of.kind]:
        raise Refused(gettext("This was taken back already."))
    roots = in_db_sync(roots_of, session.project, rows)
    plans = plan_roots(map(roots.change, rows), roots)
    hunks = {entry["path"]: entry.get("hunks", {}) for entry in of.outcome}
    outcome = as_outcome(plans)
    for entry in outcome:
        entry["hunks"] = dict.fromkeys(hunks.get(entry["path"], {}), entry["outcome"])
    owners = {(row.project_id, row.path): row for row in rows}
    intents = as_intents(plans, roots)
    for change in intents:
        _belongs(change, owners[change.project_id, change.path])
    kind = Kind.REDO if of.kind in (Kind.UNDO, Kind.REVERT) else Kind.UNDO
    noted: dict[str, Any] = {"scope": of.scope, "hunks": of.hunks, "actor": actor, "of": of}
    return carry_out(of.session, kind, roots, intents, outcome=outcome, **noted)


def _known(project_id: str, operation_id: str) -> tuple[Operation | None, list[FileChange]]:
    """An operation, and what it wrote."""
    of = operations.get(project_id, operation_id)
    return of, operations.changes_of([of]) if of else []


def _carry_out(
    session: Session, kind: Kind, found: Listing, planned: Sequence[Planned], words: str, actor: str
) -> Operation:
    intents = []
    for file in planned:
        for change in as_intents(file.plans, found.roots):
            change.session_id = session.id
            if file.owner:
                _belongs(change, file.owner)
            intents.append(change)
    return carry_out(
        session,
        kind,
        found.roots,
        intents,
        outcome=[entry for file in planned for entry in file.outcome()],
        hunks=[hunk for file in planned for hunk in file.taken],
        scope=found.scope.wire(),
        words=words,
        actor=actor,
    )


def _belongs(change: FileChange, owner: FileChange) -> None:
    """What is written belongs to the turn whose changes it takes back."""
    change.session_id = owner.session_id
    change.message_id, change.part_id = owner.message_id, owner.part_id
    change.for_session_id = owner.for_session_id
    change.for_message_id, change.for_part_id = owner.for_message_id, owner.for_part_id


def _plan(
    file: ReviewedFile, keys: Collection[str] | None, found: Listing, together: Mapping[str, FilePlan]
) -> Planned:
    steps = judge(file, found)
    known = _states(steps).keys()
    if keys is None or "" in known:
        whole = _whole(file, steps, known, found, together if keys is None else {})
        single = len(file.whole) == len(file.steps) and "" not in known
        if not (single and any(plan.outcome == "conflict" for plan in whole.plans)):
            return whole
        keys = known
    return _pieces(file, steps, set(keys) & known, found)


def _plan_back(file: ReviewedFile, keys: Collection[str], found: Listing) -> Planned | None:
    """Plan to put back hunks of a file that are no longer in it; None when none of them is."""
    steps = judge(file, found)
    states = _states(steps)
    gone = {key for key in keys if key and states.get(key) in ("gone", "missing")}
    if not gone:
        return None
    less = _less(steps, gone, found)
    changes = [replace(change, before=change.after, after=change.before) for change in less]
    plan = plan_roots(changes, found.roots)[0]
    return Planned((plan,), dict.fromkeys(gone, plan.outcome), _noted(file, steps, gone), file.owner)


def _whole(
    file: ReviewedFile,
    steps: Sequence[Step],
    known: AbstractSet[str],
    found: Listing,
    together: Mapping[str, FilePlan],
) -> Planned:
    paths = dict.fromkeys(change.path for change in file.whole)
    plans = [together[path] for path in paths if path in together] or plan_roots(file.whole, found.roots)
    worst = next((plan for plan in plans if plan.outcome == "conflict"), plans[-1])
    taken = [] if "" in known or file.renamed_from else _noted(file, steps, known)
    hunks = dict.fromkeys(known, worst.outcome)
    return Planned(tuple(plans), hunks, taken or [_everything(file.key)], file.owner)


def _pieces(file: ReviewedFile, steps: Sequence[Step], keys: AbstractSet[str], found: Listing) -> Planned:
    states = _states(steps)
    here = {key for key in keys if states[key] == "here"}
    hunks: dict[str, Outcome] = {key: _UNDONE[states[key]] for key in keys - here}
    if not here:
        outcome: Outcome = next(iter(hunks.values()), "already")
        plan = replace(_attempt(file, steps, keys, found), outcome=outcome, reason=_WHY[outcome])
        return Planned((plan,), hunks, [], file.owner)
    everything = here == states.keys() and file.whole == file.steps
    plan = plan_roots(file.steps, found.roots)[0] if everything else _attempt(file, steps, here, found)
    hunks |= dict.fromkeys(here, plan.outcome)
    return Planned((plan,), hunks, _noted(file, steps, here), file.owner)


def _attempt(file: ReviewedFile, steps: Sequence[Step], keys: AbstractSet[str], found: Listing) -> FilePlan:
    """The plan that takes back some hunks."""
    changes = _less(steps, keys, found)
    if not changes:
        return FilePlan(file.path, "already")
    return plan_roots(changes, found.roots)[0]


def _less(steps: Sequence[Step], keys: AbstractSet[str], found: Listing) -> list[Change]:
    """Of each step the part that some hunks are: from the file without them to the file as it left it."""
    changes: list[Change] = []
    for number, step in enumerate(steps):
        own = {key for key in step.hunks if pick_key(number, key) in keys}
        if own and step.before is not None and step.after is not None:
            target = found.roots.of(step.change.path).objects.put(without(step.before, step.after, own))
            changes.append(replace(step.change, before=target, mode_before=step.change.mode_after))
    return changes


def _states(steps: Sequence[Step]) -> dict[str, str]:
    """By pick how it stands with each hunk of a file."""
    return {judged.key: judged.state for step in steps for judged in step.hunks.values()}


def _noted(file: ReviewedFile, steps: Sequence[Step], keys: AbstractSet[str]) -> list[Mapping[str, Any]]:
    noted: list[Mapping[str, Any]] = []
    for number, step in enumerate(steps):
        old, new = split_lines(step.before or b""), split_lines(step.after or b"")
        for piece in pieces(old, new):
            if (pick := pick_key(number, piece.key)) in keys:
                noted.append(piece.noted(pack_path(file.path), old, new, _SHOWN) | {"key": pick})
    return noted[:_TOLD]


def _everything(path: str, key: str = "") -> dict[str, Any]:
    """All that was done to a file, or a hunk by its name alone."""
    return {"path": path, "key": key, "line": 1, "removed": "", "added": ""}

"""Take into a project what sessions changed in worktrees of it: all of one, files, or hunks of several.

A change is merged into the file as it is now, from the content that the worktree began with (three-way). It
is an operation by hand, noted like any other, so that the log can take it back. Nothing is committed by it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from sessions.changes.diffs.hunks import pieces, without
from sessions.changes.diffs.lines import split_lines
from sessions.changes.operations.engine import as_intents, as_outcome, carry_out, plan_roots
from sessions.changes.operations.lock import Refused, in_turn
from sessions.changes.review.filediffs import NetChange, changed, content
from sessions.changes.review.verdicts import textual
from sessions.changes.roots import Roots
from sessions.changes.snapshots.changes import Change
from sessions.changes.snapshots.objects import ObjectMissing, ObjectStore
from sessions.changes.tracking import tracker
from sessions.changes.undo.plan import WRITES, FilePlan
from sessions.core.db import in_db
from sessions.core.models import Operation, Project, Session
from sessions.core.store import sessions as session_store
from sessions.core.store.operations import TAKE, Kind

Picks = Mapping[str, Collection[str] | None]
"""By path the keys of hunks; None for the whole file."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Of what a session changed; without `picks` all of it."""

    session: Session
    picks: Picks | None = None


@dataclass(frozen=True, slots=True)
class _Found:
    """What a session changed, where its contents are, and of which files of it which hunks are wanted."""

    files: Sequence[tuple[NetChange, Collection[str] | None]]
    objects: ObjectStore


async def preview(project: Project, wanted: Sequence[Wanted]) -> list[FilePlan]:
    """What `take` would do now; changes nothing. Raises Refused where a content is not at hand."""
    found = [await _found(one) for one in wanted]
    return await asyncio.to_thread(_plan, Roots(await asyncio.to_thread(tracker, project)), found)


async def take(
    project: Project, wanted: Sequence[Wanted], *, name: str = "", actor: str = ""
) -> tuple[Operation | None, list[FilePlan]]:
    """Write it into the files of the project, but for those where it conflicts. None where nothing was
    written. Once begun it is carried through. Raises Refused."""
    found = [await _found(one) for one in wanted]
    session = await in_db(session_store.by_hand, project)
    session.project = project
    roots = Roots(await asyncio.to_thread(tracker, project))
    return await in_turn(project.id, _take, session, roots, found, name, actor)


async def _found(wanted: Wanted) -> _Found:
    """Files beside the worktree are not the project's."""
    done = await changed(wanted.session)
    files = [file for file in done.files if not os.path.isabs(file.path)]
    picks = wanted.picks
    chosen = [
        (file, picks[file.path] if picks else None) for file in files if picks is None or file.path in picks
    ]
    return _Found(chosen, done.roots.home.objects)


def _take(
    session: Session, roots: Roots, found: Sequence[_Found], name: str, actor: str
) -> tuple[Operation | None, list[FilePlan]]:
    plans = _plan(roots, found)
    if not any(plan.outcome in WRITES for plan in plans):
        return None, plans
    intents = as_intents(plans, roots)
    for change in intents:
        change.session_id = session.id
    noted: dict[str, Any] = {
        "outcome": as_outcome(plans),
        "scope": {"kind": "hand", "act": TAKE, "name": name},
        "actor": actor,
    }
    operation = carry_out(session, Kind.EDIT, roots, intents, **noted)
    return operation, plans


def _plan(roots: Roots, found: Sequence[_Found]) -> list[FilePlan]:
    """An undo of the change that would lead back: what `plan_undo` says of one holds for the other."""
    target = roots.home.objects
    changes = [_back(file, keys, one.objects, target) for one in found for file, keys in one.files]
    return plan_roots([change for change in changes if change is not None], roots)


def _back(
    file: NetChange, keys: Collection[str] | None, source: ObjectStore, target: ObjectStore
) -> Change | None:
    """From a file as it is to be back to what the worktree began with; both contents are in `target` then.
    None where none of the hunks is there."""
    if file.skipped:
        return Change(file.path, None, None, skipped=file.skipped)
    try:
        before, after = (content(oid, source) for oid in (file.before, file.after))
    except ObjectMissing as error:
        raise Refused(
            gettext("The content of %(path)s is no longer at hand.") % {"path": file.path}
        ) from error
    mode = file.mode_after
    if keys is not None and before is not None and after is not None and textual(_change(file), source):
        known = {piece.key for piece in pieces(split_lines(before), split_lines(after))}
        if not known & set(keys):
            return None
        after = without(before, after, known - set(keys))
        mode = file.mode_before if known - set(keys) else mode
    old, new = (target.put(data) if data is not None else None for data in (before, after))
    return Change(file.path, new, old, mode, file.mode_before)


def _change(file: NetChange) -> Change:
    return Change(file.path, file.before or None, file.after or None, file.mode_before, file.mode_after)

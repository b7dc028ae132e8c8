"""One engine for what writes the person's files: note an operation, write, settle; recover after a crash.

A kind of operation (`conversation`, `hunks`, `staged`) plans what becomes of each file and who the ledger's
entries belong to; from there on all kinds go the same way. What is noted is enough to finish: where a crash
came before the first file, nothing has happened. Where files of several roots are concerned it is one
operation, carried out root by root. All of it blocks, but `recover`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from sessions.changes.operations.lock import ProjectBusy, left_by_undo, project_locks
from sessions.changes.review.filediffs import file_diffs, net
from sessions.changes.roots import Roots, roots_among, roots_of
from sessions.changes.snapshots.changes import Change
from sessions.changes.snapshots.objects import object_id
from sessions.changes.tracking import Tracker
from sessions.changes.undo.apply import apply
from sessions.changes.undo.files import (
    UnsafePath,
    read_file,
    remove_empty_folder,
    remove_leftovers,
    same_mode,
)
from sessions.changes.undo.plan import WRITES, FilePlan, plan_undo
from sessions.core import fence
from sessions.core.db import in_db, in_db_sync
from sessions.core.models import FileChange, Operation, Session
from sessions.core.models.ledger import pack_path, unpack_path
from sessions.core.store import leases, ledger, operations, summary
from sessions.core.store.ledger import Point
from sessions.core.store.operations import CONVERSATION, Kind

logger = logging.getLogger(__name__)

Entry = Mapping[str, Any]

_LEFT_ALONE = ("conflict", "unsafe")
"""Outcomes after which a file's changes count as they did before; so do those of a file that has been removed
since, but with an undo of the conversation: it has nothing of the agent in it any more."""


def carry_out(
    session: Session, kind: Kind, roots: Roots, intents: Sequence[FileChange], **noted: Any
) -> Operation:
    """Note an operation, write its files and settle it; gives it as it is then. `noted` is as for
    `operations.begin`."""
    for root in {roots.root(row) for row in intents}:
        root.catch_up()
    operation = in_db_sync(operations.begin, session, kind, intents, **noted)
    return settle(operation, roots)


def settle(operation: Operation, roots: Roots, already: Collection[str] = ()) -> Operation:
    """Carry out an operation that was begun, with what came of each file. Paths in `already` were written
    before a crash. Gives it as it is then."""
    rows = in_db_sync(operations.changes_of, [operation])
    outcome = _write(operation, rows, roots, already)
    ends = _LEFT_ALONE if operation.kind == Kind.REVERT else (*_LEFT_ALONE, "missing")
    paths = {unpack_path(entry["path"]) for entry in outcome if entry["outcome"] in ends}
    if operation.kind in CONVERSATION:
        left_alone = _places(paths | left_out(operation), roots)
        undone, remaining = in_db_sync(_counting, operation, set(left_alone.values()))
        seen = in_db_sync(roots_of, operation.project, [*undone, *remaining])
        diffs, revert = file_diffs(net(remaining, seen), seen), None
        if operation.kind == Kind.REVERT:
            revert = _revert(operation, undone, seen)
        in_db_sync(operations.finish, operation, outcome, left_alone, diffs, revert)
        return operation
    in_db_sync(operations.finish, operation, outcome, _places(paths, roots))
    for session_id, (changes, seen) in in_db_sync(_remaining, operation).items():
        in_db_sync(summary.write, session_id, file_diffs(net(changes, seen), seen))
    return operation


def plan_roots(changes: Iterable[Change], roots: Roots) -> list[FilePlan]:
    """`plan_undo` of changes whose paths are as seen from a session, for each root by itself: a content has
    its place in the root that it was in."""
    by_root: dict[Tracker, list[Change]] = {}
    for change in changes:
        root, path = roots.at(change.path)
        by_root.setdefault(root, []).append(replace(change, path=path))
    return [
        replace(plan, path=roots.seen(root, plan.path))
        for root, own in by_root.items()
        for plan in plan_undo(own, root.objects, root.worktree)
    ]


async def recover() -> None:
    """Finish what a crash cut short; runs before turns are taken up. Where a file was written, the rest is
    written too; where none was, nothing has happened, but what `operations.is_decided` stands."""
    for operation in await in_db(operations.planned):
        try:
            rows = await in_db(operations.changes_of, [operation])
            with project_locks([operation.project_id, *(row.project_id for row in rows)]):
                await asyncio.to_thread(_recover, operation)
        except ProjectBusy:
            logger.info("%s %s is being carried out", operation.kind, operation.id)
        except Exception:
            logger.exception("%s %s could not be finished", operation.kind, operation.id)


def as_outcome(plan: Iterable[FilePlan]) -> list[dict[str, Any]]:
    """`Operation.outcome`: path, outcome, reason, counts, folders and places of each file. Folders and places
    are seen from its root."""
    return [
        {
            "path": pack_path(file.path),
            "outcome": file.outcome,
            "reason": file.reason,
            "additions": file.additions,
            "deletions": file.deletions,
            "folders": [pack_path(folder) for folder in file.folders],
            "places": [[oid, pack_path(path)] for oid, path in file.places],
        }
        for file in plan
    ]


def as_intents(plan: Iterable[FilePlan], roots: Roots) -> list[FileChange]:
    """Ledger entries of the files that are going to be written, with the folders to be made for them."""
    return [_intent(file, *roots.at(file.path)) for file in plan if file.outcome in WRITES]


def _intent(file: FilePlan, root: Tracker, path: str) -> FileChange:
    return FileChange(
        project_id=root.project_id,
        path=path,
        before=file.before_now or "",
        after=file.result or "",
        mode_before=file.mode_now,
        mode_after=file.mode,
        new_folders=_missing_folders(root.worktree, path) if file.result else 0,
    )


def left_out(operation: Operation) -> set[str]:
    """The files which the person did not want taken back with the conversation."""
    return {unpack_path(path) for path in operation.scope.get("left_out", ())}


def _places(paths: Iterable[str], roots: Roots) -> dict[str, operations.Place]:
    """Of paths as seen from the session."""
    found = ((path, roots.at(path)) for path in paths)
    return {path: (root.project_id, inner) for path, (root, inner) in found}


def _missing_folders(worktree: Path, path: str) -> int:
    return sum(not (worktree / parent).exists() for parent in PurePosixPath(path).parents)


def _write(
    operation: Operation, rows: Iterable[FileChange], roots: Roots, already: Collection[str]
) -> list[Entry]:
    """Apply what was noted; the entry of a file that could not be written says so instead."""
    due = {entry["path"]: entry for entry in operation.outcome if entry["outcome"] in WRITES}
    by_root: dict[str, list[FilePlan]] = {}
    for row in rows:
        plan = _as_plan(due[pack_path(roots.path(row))], row)
        by_root.setdefault(row.project_id, []).append(plan)
    failed: dict[str, FilePlan] = {}  # by packed path
    for root in roots.every:
        for file in _apply(by_root.get(root.project_id, ()), root, roots, already):
            failed[pack_path(roots.seen(root, file.path))] = file
    return [_ended(entry, failed.get(entry["path"])) for entry in operation.outcome]


def _apply(
    plan: Sequence[FilePlan], root: Tracker, roots: Roots, already: Collection[str]
) -> Sequence[FilePlan]:
    """In one root; gives what could not be written."""
    written: dict[str, str | None] = {}
    failed: list[FilePlan] = []

    def write() -> None:
        fence.require()
        before = {file.path for file in plan if roots.seen(root, file.path) in already}
        done = apply(plan, root.worktree, root.objects, written=before)
        written.update({change.path: change.after for change in done.changes})
        failed.extend(done.failed)

    if plan:
        root.writing(written, write)
    return failed


def _as_plan(entry: Entry, row: FileChange) -> FilePlan:
    return FilePlan(
        path=row.path,
        outcome=entry["outcome"],
        before_now=row.before or None,
        mode_now=row.mode_before,
        result=row.after or None,
        mode=row.mode_after,
        additions=entry["additions"],
        deletions=entry["deletions"],
        reason=entry["reason"],
        folders=tuple(unpack_path(folder) for folder in entry.get("folders", ())),
        places=tuple((oid, unpack_path(path)) for oid, path in entry.get("places", ())),
    )


def _ended(entry: Entry, failed: FilePlan | None) -> Entry:
    """A hunk of a file that was left alone was so too."""
    if failed is None or entry["outcome"] not in WRITES:
        return entry
    ended = {**entry, "outcome": failed.outcome, "reason": failed.reason}
    if "hunks" in entry:
        hunks = entry["hunks"].items()
        ended["hunks"] = {key: failed.outcome if was in WRITES else was for key, was in hunks}
    return ended


def _counting(
    operation: Operation, left_alone: Collection[operations.Place]
) -> tuple[list[FileChange], list[FileChange]]:
    """What undos of the conversation have written in all once this one is settled, and the changes of tools
    that count then."""
    session_id = operation.session_id
    undone = [
        row
        for row in operations.changes_of([*operations.active(session_id), operation])
        if row.operation_id != operation.id or (row.project_id, row.path) not in left_alone
    ]
    taken: set[int] = set()
    if operation.kind == Kind.REVERT:
        point = Point(operation.message_id, operation.part_id)
        taken = set(ledger.since(session_id, point).values_list("id", flat=True))

    def counts(row: FileChange) -> bool:
        if (row.project_id, row.path) in left_alone:
            return row.undone_by_id is None
        return row.pk not in taken

    return undone, [row for row in ledger.undoable(session_id) if counts(row)]


def _revert(operation: Operation, undone: list[FileChange], roots: Roots) -> dict[str, Any]:
    """The wire's state of the session; `diff` is what undoing has changed in the files."""
    part = {"partID": operation.part_id} if operation.part_id else {}
    patch = "".join(diff.patch or "" for diff in file_diffs(net(undone, roots), roots))
    return {"messageID": operation.message_id, **part, "diff": patch}


def _remaining(operation: Operation) -> dict[str, tuple[list[FileChange], Roots]]:
    """What the sessions whose changes were touched have changed in all now, each with its roots."""
    rows = operations.changes_of([operation])
    touched = {row.session_id for row in rows} | {operation.session_id}
    sessions = Session.objects.filter(id__in=touched).select_related("project")
    changed = [(session, list(ledger.by_tools(session.id))) for session in sessions]
    return {session.id: (own, roots_of(session.project, own)) for session, own in changed}


def _recover(operation: Operation) -> None:
    if not in_db_sync(operations.is_planned, operation):
        return
    intents = in_db_sync(operations.changes_of, [operation])
    roots = in_db_sync(_concerned, operation, intents)
    for row in {(row.project_id, PurePosixPath(row.path).parent): row for row in intents}.values():
        remove_leftovers(roots.root(row).worktree, row.path)
    written = {roots.path(row) for row in intents if _is_written(row, roots)}
    finish = bool(written) or operations.is_decided(operation)
    if finish:
        settle(operation, roots, written)
    else:
        _remove_folders(intents, roots)
        in_db_sync(operations.withdraw, operation)
    logger.warning(
        "%s %s of session %s was cut short after %d of %d files: %s",
        operation.kind,
        operation.id,
        operation.session_id,
        len(written),
        len(intents),
        "finished now" if finish else "withdrawn, no file was changed",
    )
    if left_by_undo(operation.session.lease_owner):
        in_db_sync(leases.free, operation.session)


def _concerned(operation: Operation, intents: Iterable[FileChange]) -> Roots:
    """What its outcome may name, written or left alone."""
    known = ledger.projects_of(operation.session) | {row.project_id for row in intents}
    known |= {entry["place"][0] for entry in operation.outcome if "place" in entry}
    return roots_among(operation.project, known)


def _is_written(row: FileChange, roots: Roots) -> bool:
    """Whether a file is as it was to be."""
    try:
        now = read_file(roots.root(row).worktree, row.path)
    except (OSError, UnsafePath):
        return False
    if now is None or not row.after:
        return now is None and not row.after
    return object_id(now.content) == row.after and same_mode(now.mode, row.mode_after)


def _remove_folders(intents: Iterable[FileChange], roots: Roots) -> None:
    """The folders made for files that were not written after all."""
    for row in intents:
        for parent in PurePosixPath(row.path).parents[: row.new_folders]:
            remove_empty_folder(roots.root(row).worktree, str(parent))

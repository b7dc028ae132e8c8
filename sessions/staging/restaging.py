"""What taking back a verdict would do with one file. Reads files, writes none; blocks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sessions.models import FileChange, StagedFile
from sessions.review.outcomes import as_change
from sessions.snapshots.changes import Change
from sessions.snapshots.objects import ObjectMissing, object_id
from sessions.staging.moves import Move, Snapshot
from sessions.store import kept
from sessions.tracking import Tracker
from sessions.undo.files import NEW_FILE, FileState, UnsafePath, read_file
from sessions.undo.plan import FilePlan, Stop, invert, plan_undo


def plan_restage(
    entry: Mapping[str, Any], path: str, row: StagedFile | None, change: FileChange | None, project: Tracker
) -> Move:
    """Take back what a verdict did with one file: in the working tree and in what is staged."""
    try:
        now = read_file(project.worktree, path)
        plan = _disk(path, now, change, project)
        if _untouched(entry, row, plan):
            before, after = entry["after"], entry["before"]
        else:
            before = kept.snapshot(row) if row else {**entry["before"], **_gone(now, project)}
            after = _merged(path, entry, before, project)
            if row is None and change is not None:
                after |= {"base": plan.result or "", "mode_base": plan.mode}
    except Stop as stop:
        plan = FilePlan(path, stop.outcome, reason=stop.reason)
        before = after = dict(entry["after"])
    except (UnsafePath, OSError, ObjectMissing) as error:
        plan = FilePlan(path, "unsafe", reason=str(error))
        before = after = dict(entry["after"])
    return Move(plan, before, after, tuple(entry["hunks"]), writes=change is not None)


def _disk(path: str, now: FileState | None, change: FileChange | None, project: Tracker) -> FilePlan:
    if change is not None:
        return plan_undo([as_change(change)], project.objects, project.worktree)[0]
    return unwritten(path, now)


def unwritten(path: str, now: FileState | None) -> FilePlan:
    """The plan of a verdict that leaves the file on the disk as it is."""
    oid, mode = (object_id(now.content), now.mode) if now else (None, None)
    return FilePlan(path, "restore", oid, mode, oid, mode)


def _untouched(entry: Mapping[str, Any], row: StagedFile | None, plan: FilePlan) -> bool:
    """Whether disk and row are still what the verdict left; then everything is as it was before it."""
    after = entry["after"]
    if plan.before_now != entry["plan"]["result"]:
        return False
    if row is None:
        return bool(after["base"] == after["content"])
    return bool(row.base == after["base"] and row.content == after["content"])


def _gone(now: FileState | None, project: Tracker) -> dict[str, Any]:
    """Where there is no row the staged content is the disk's."""
    oid, mode = (project.objects.put(now.content), now.mode) if now else ("", None)
    return {"base": oid, "content": oid, "mode_base": mode, "mode": mode}


def _merged(path: str, entry: Mapping[str, Any], now: Snapshot, project: Tracker) -> dict[str, Any]:
    """The row without what the verdict did to it. Raises Stop."""
    content = _undone(path, entry, now, ("content", "mode"), project)
    return {**now, **content, **_undone(path, entry, now, ("base", "mode_base"), project)}


def _undone(
    path: str, entry: Mapping[str, Any], now: Snapshot, names: tuple[str, str], project: Tracker
) -> dict[str, Any]:
    """One of the row's contents without what the verdict made of it. Raises Stop."""
    name, mode = names
    before, after = entry["before"], entry["after"]
    if before[name] == after[name]:
        return {}
    run = Change(path, before[name] or None, after[name] or None, before[mode], after[mode])
    state = FileState(project.objects.get(now[name]), now[mode] or NEW_FILE) if now[name] else None
    made, _ = invert(run, state, project.objects)
    return {name: project.objects.put(made.content) if made else "", mode: made.mode if made else None}

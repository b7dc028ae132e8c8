"""Between plans of files and rows: what an undo is going to do is noted so that a crash can be made good."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from sessions.models import FileChange, Operation
from sessions.models.ledger import pack_path, shown, unpack_path
from sessions.snapshots.changes import Change
from sessions.undo.plan import FilePlan

WRITES = ("restore", "merge")
_LISTS = {
    "restore": "changed",
    "merge": "changed",
    "conflict": "conflicts",
    "missing": "leftAlone",
    "unsafe": "leftAlone",
    "uncovered": "notCovered",
}
LEFT_ALONE = {"revert": ("conflict", "unsafe"), "unrevert": ("conflict", "unsafe", "missing")}
"""Outcomes after which a file's changes count as they did before. A file that has been removed since has
nothing of the agent in it any more, and a redo does not bring it back."""


def told(operation: Operation | None) -> dict[str, list[dict[str, str]]]:
    """For a client: the files that an undo or redo changed, those it left alone because of conflicts, because
    of something else, and those it knows nothing of, each with the reason."""
    lists: dict[str, list[dict[str, str]]] = {
        "changed": [],
        "conflicts": [],
        "leftAlone": [],
        "notCovered": [],
    }
    for entry in operation.outcome if operation else ():
        if (name := _LISTS.get(entry["outcome"])) is not None:
            lists[name].append({"file": shown(unpack_path(entry["path"])), "reason": entry["reason"]})
    return lists


def as_outcome(plan: Sequence[FilePlan]) -> list[dict[str, Any]]:
    """`Operation.outcome`: path, outcome, reason, counts and folders of each file."""
    return [
        {
            "path": pack_path(file.path),
            "outcome": file.outcome,
            "reason": file.reason,
            "additions": file.additions,
            "deletions": file.deletions,
            "folders": [pack_path(folder) for folder in file.folders],
        }
        for file in plan
    ]


def as_intents(plan: Iterable[FilePlan], worktree: Path) -> list[FileChange]:
    """Ledger entries of the files that are going to be written, with the folders that must be made for them.
    Blocking: it looks at the worktree."""
    return [
        FileChange(
            path=file.path,
            before=file.before_now or "",
            after=file.result or "",
            mode_before=file.mode_now,
            mode_after=file.mode,
            new_folders=_missing_folders(worktree, file.path) if file.result else 0,
        )
        for file in plan
        if file.outcome in WRITES
    ]


def _missing_folders(worktree: Path, path: str) -> int:
    return sum(not (worktree / parent).exists() for parent in PurePosixPath(path).parents)


def as_change(row: FileChange) -> Change:
    """A ledger entry in the words of `sessions.undo`."""
    return Change(
        path=row.path,
        before=row.before or None,
        after=row.after or None,
        mode_before=row.mode_before,
        mode_after=row.mode_after,
        skipped=row.skipped or None,
        new_folders=row.new_folders,
    )


def as_plan(operation: Operation, intents: Iterable[FileChange]) -> list[FilePlan]:
    """The plan again, from the rows of an operation that was begun."""
    written = {row.path: row for row in intents}
    return [_planned(entry, written.get(unpack_path(entry["path"]))) for entry in operation.outcome]


def _planned(entry: dict[str, Any], row: FileChange | None) -> FilePlan:
    return FilePlan(
        path=unpack_path(entry["path"]),
        outcome=entry["outcome"],
        before_now=(row.before or None) if row else None,
        mode_now=row.mode_before if row else None,
        result=(row.after or None) if row else None,
        mode=row.mode_after if row else None,
        additions=entry["additions"],
        deletions=entry["deletions"],
        reason=entry["reason"],
        folders=tuple(unpack_path(folder) for folder in entry.get("folders", ())),
    )

"""What waits, as the page lists it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sessions.diffs.hunks import is_binary
from sessions.diffs.unified import count
from sessions.models import StagedFile
from sessions.models.ledger import pack_path, shown
from sessions.snapshots.objects import ObjectMissing
from sessions.staging.changes import unchanged
from sessions.tracking import Tracker

LARGEST = 4 * 1024 * 1024  # bytes of a file up to which its lines are counted


@dataclass(frozen=True, slots=True)
class Listed:
    """`key` names the file in a form. `changed` says that the file on the disk is no longer what the edits
    began with; `guarded` that it takes a yes of its own."""

    key: str
    name: str
    status: Literal["added", "deleted", "modified"]
    additions: int
    deletions: int
    changed: bool
    guarded: bool


def listed(rows: Sequence[StagedFile], project: Tracker) -> list[Listed]:
    """By path. Blocks."""
    return [_listed(row, project) for row in rows]


def _listed(row: StagedFile, project: Tracker) -> Listed:
    additions, deletions = _counted(row, project)
    return Listed(
        key=pack_path(row.path),
        name=shown(row.path),
        status="added" if not row.base else "modified" if row.content else "deleted",
        additions=additions,
        deletions=deletions,
        changed=not unchanged(row, project),
        guarded=row.guarded,
    )


def _counted(row: StagedFile, project: Tracker) -> tuple[int, int]:
    try:
        old, new = (project.objects.get(oid) if oid else b"" for oid in (row.base, row.content))
    except ObjectMissing:
        return 0, 0
    if is_binary(old) or is_binary(new) or len(old) + len(new) > LARGEST:
        return 0, 0
    return count(old, new)

"""What waits in review mode, as pages list it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from sessions.changes.review.filediffs import count_change
from sessions.changes.review.marking import seal
from sessions.changes.review.verdicts import staged_change
from sessions.changes.snapshots.objects import object_id
from sessions.changes.tracking import Tracker
from sessions.changes.undo.files import UnsafePath, read_file
from sessions.core.models import StagedFile
from sessions.core.models.ledger import pack_path, shown


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


def seals(rows: Iterable[StagedFile]) -> str:
    """What a page shows of staged files, as its forms send it back in `drawn`."""
    return " ".join(seal(staged_change(row)) for row in rows)


def _listed(row: StagedFile, project: Tracker) -> Listed:
    additions, deletions = count_change(staged_change(row), project.objects)
    return Listed(
        key=pack_path(row.path),
        name=shown(row.path),
        status="added" if not row.base else "modified" if row.content else "deleted",
        additions=additions,
        deletions=deletions,
        changed=not _unchanged(row, project),
        guarded=row.guarded,
    )


def _unchanged(row: StagedFile, project: Tracker) -> bool:
    """Whether the file on the disk is what the edits began with. Blocks."""
    try:
        now = read_file(project.worktree, row.path)
    except (UnsafePath, OSError):
        return False
    return (object_id(now.content) if now else "") == row.base

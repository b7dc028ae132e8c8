"""What waits in review mode, as pages list it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from sessions.changes.review.filediffs import count_change
from sessions.changes.review.marking import seal
from sessions.changes.review.verdicts import staged_change
from sessions.changes.roots import Roots, own_first, roots_of
from sessions.changes.snapshots.objects import object_id
from sessions.changes.tracking import Tracker
from sessions.changes.undo.files import UnsafePath, read_file
from sessions.core.models import Session, StagedFile
from sessions.core.models.ledger import pack_path, shown
from sessions.core.store import staging


def waiting(session: Session) -> tuple[list[StagedFile], Roots]:
    """What waits for a session and its subagents, and where it lies. Runs on the ORM's thread."""
    rows = staging.files(session)
    return rows, roots_of(session.project, rows)


@dataclass(frozen=True, slots=True)
class Listed:
    """`key` names the file in a form. `name` is its path in the project, or below the name of the folder
    beside it that it lies in; `title` is it as seen from the session. `changed` says that the file on the
    disk is no longer what the edits began with; `guarded` that it takes a yes of its own."""

    key: str
    name: str
    title: str
    status: Literal["added", "deleted", "modified"]
    additions: int
    deletions: int
    changed: bool
    guarded: bool


def listed(rows: Iterable[StagedFile], roots: Roots) -> list[Listed]:
    """By path, the project's own first. Blocks."""
    return [_listed(row, roots) for row in sorted(rows, key=lambda row: own_first(roots.path(row)))]


def seals(rows: Iterable[StagedFile], roots: Roots) -> str:
    """What a page shows of staged files, as its forms send it back in `drawn`."""
    return " ".join(seal(staged_change(row, roots)) for row in rows)


def _listed(row: StagedFile, roots: Roots) -> Listed:
    root, path = roots.root(row), roots.path(row)
    additions, deletions = count_change(staged_change(row, roots), root.objects)
    return Listed(
        key=pack_path(path),
        name=shown(path if root is roots.home else os.path.join(root.worktree.name, row.path)),
        title=shown(path),
        status="added" if not row.base else "modified" if row.content else "deleted",
        additions=additions,
        deletions=deletions,
        changed=not _unchanged(row, root),
        guarded=row.guarded,
    )


def _unchanged(row: StagedFile, root: Tracker) -> bool:
    """Whether the file on the disk is what the edits began with. Blocks."""
    try:
        now = read_file(root.worktree, row.path)
    except (UnsafePath, OSError):
        return False
    return (object_id(now.content) if now else "") == row.base

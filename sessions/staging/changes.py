"""A staged file in the words of the diffs."""

from __future__ import annotations

from collections.abc import Iterable

from sessions.models import StagedFile
from sessions.review.marking import seal
from sessions.snapshots.changes import Change
from sessions.snapshots.objects import object_id
from sessions.tracking import Tracker
from sessions.undo.files import UnsafePath, read_file


def as_change(row: StagedFile) -> Change:
    """A staged edit as if it had been made."""
    return Change(row.path, row.base or None, row.content or None, row.mode_base, row.mode)


def seals(rows: Iterable[StagedFile]) -> str:
    """What a page shows of staged files, as its forms send it back in `drawn`."""
    return " ".join(seal(as_change(row)) for row in rows)


def unchanged(row: StagedFile, project: Tracker) -> bool:
    """Whether the file on the disk is what the edits began with. Blocks."""
    try:
        now = read_file(project.worktree, row.path)
    except (UnsafePath, OSError):
        return False
    return (object_id(now.content) if now else "") == row.base

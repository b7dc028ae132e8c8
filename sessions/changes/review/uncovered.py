"""What an undo cannot know of: what no snapshot sees, and what OpenCode changed before the session came here.

Commands may have changed files that git ignores and that are not kept by choice, and repositories inside of
the project that are too large (`changes.snapshots.snapshot`). Nothing of them is in the ledger. Time stamps
tell which were written since the undo's first message. What OpenCode changed stands in the patches of its
messages, by name alone where its snapshots were gone at the import. The undo names all of those and leaves
them as they are.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from django.utils.translation.trans_null import gettext_noop

from sessions.changes.snapshots.changes import NESTED
from sessions.changes.snapshots.project import find_project_git
from sessions.changes.tracking import Tracker
from sessions.core.db import in_db_sync
from sessions.core.git import GitError
from sessions.core.models import FileChange, Message, Part, Session
from sessions.core.models.ledger import shown
from sessions.core.store.ledger import Point

SHOWN = 20
"""How many are named."""
LOOKED_AT = 4000
"""How many files and folders are looked at, all together."""
_COMMANDS = ("bash", "task")
_ELSEWHERE = gettext_noop("OpenCode changed it before the session came here, and what was in it is not known")
_IGNORED = gettext_noop("git ignores it, so what commands did to it is not known")


@dataclass(frozen=True, slots=True)
class Uncovered:
    """A file, or a folder with `/` at its end, that stays as it is, and why."""

    name: str
    reason: str


def uncovered(session: Session, point: Point, project: Tracker) -> tuple[Uncovered, ...]:
    """Ignored files written since a point of the conversation, where commands ran from there on, and what was
    changed elsewhere. Blocks."""
    since = in_db_sync(_commands_since, session.id, point)
    ignored = () if since is None or project.problem else ignored_since(project, since)
    return (*ignored, *changed_elsewhere(session, point, project))


def changed_elsewhere(session: Session, point: Point, project: Tracker) -> tuple[Uncovered, ...]:
    """Files that steps from a point on say they changed, where the ledger does not have what. Blocks."""
    names = in_db_sync(_named_alone, session.id, point, project.worktree)
    return tuple(Uncovered(name, _ELSEWHERE) for name in names[:SHOWN])


def ignored_since(project: Tracker, since: int) -> tuple[Uncovered, ...]:
    """Files left out with a time stamp after `since` (milliseconds). Blocks."""
    found: list[Uncovered] = []
    left = LOOKED_AT
    left_out = [(name, _IGNORED) for name in _ignored(project)]
    left_out += [(item.path, item.reason) for item in project.left_out if item.reason == NESTED]
    for name, reason in left_out:
        seen = list(islice(_below(project.worktree / name), left))
        left -= len(seen)
        if any(_written(path) >= since for path in seen):
            found.append(Uncovered(shown(name), reason))
        if not left or len(found) == SHOWN:
            break
    return tuple(found)


def _commands_since(session_id: str, point: Point) -> int | None:
    """When the point's message was written, if a command or a subagent came after it."""
    later = Part.objects.filter(session_id=session_id, message_id__gte=point.message_id, type="tool")
    if not later.filter(data__tool__in=_COMMANDS).exists():
        return None
    return Message.objects.filter(id=point.message_id).values_list("time_created", flat=True).first()


def _named_alone(session_id: str, point: Point, worktree: Path) -> list[str]:
    """Paths below the worktree, in order."""
    patches = Part.objects.filter(session_id=session_id, message_id__gte=point.message_id, type="patch")
    if point.part_id:
        patches = patches.exclude(message_id=point.message_id, id__lt=point.part_id)
    named = {
        (message, os.path.relpath(file, worktree))
        for message, files in patches.values_list("message_id", "data__files")
        for file in files
        if Path(file).is_relative_to(worktree)
    }
    if not named:
        return []
    rows = FileChange.objects.filter(point.onward(session_id), operation=None)
    known = set(rows.values_list("message_id", "path"))
    return sorted({shown(path) for _, path in named - known})


def _ignored(project: Tracker) -> list[str]:
    """Paths below the worktree, a wholly ignored folder as one."""
    found = find_project_git(project.worktree)
    given = ["-c", f"core.excludesFile={found.global_excludes}"] if found.global_excludes else []
    asked = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"]
    try:
        output = project.objects.git([f"--work-tree={found.top}", *given, *asked], cwd=project.worktree)
    except GitError:
        return []
    return sorted(os.fsdecode(name) for name in output.split(b"\0") if name)


def _below(path: Path) -> Iterator[Path]:
    """A file, or a folder and what is in it; links are not followed."""
    yield path
    if not path.is_symlink() and path.is_dir():
        for folder, _, names in os.walk(path):
            yield from (Path(folder, name) for name in names)


def _written(path: Path) -> int:
    try:
        return path.lstat().st_mtime_ns // 1_000_000
    except OSError:
        return 0

"""Whether what a command left was made by it, or was somewhere before, where no snapshot saw it.

A path that is new to the snapshots was not always made: a rule of git that went makes ignored files seen, and
`mv` brings files from ignored places and from outside of the project. An undo must not remove those
(docs/decisions/0032). What tells them apart are the time stamps of the file and, where the file system keeps
it, the time it was made, which stays with it when it is moved.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sessions.changes.snapshots.changes import MOVED_IN, NOT_KEPT, REPOSITORY, Change, Tree
from sessions.changes.snapshots.modes import under
from sessions.changes.snapshots.objects import ObjectStore
from sessions.core.platform.births import born

_SECOND = 1_000_000_000


def traced(
    changes: Sequence[Change], since: int, worktree: Path, objects: ObjectStore, before: Tree, after: Tree
) -> list[Change]:
    """`changes` between two trees, without files that git ignored before and that nothing touched since
    `since` (nanoseconds, by `births.now`), with MOVED_IN on those whose content is older than that and was in
    no snapshot, and with what an undo cannot reach: ignored files that are gone, repositories that came.

    A content that is at another place, too, or was there before under another name, is known: a copy, or a
    file that was renamed. Raises GitError.
    """
    ignored = frozenset(path.removesuffix("/") for path in before.ignored)
    found = [change for change in changes if not _came_into_sight(change, since, worktree, ignored)]
    named = {change.path for change in found}
    for path in sorted(before.ignored - after.ignored - named):
        if not os.path.lexists(worktree / path):
            found.append(Change(path, None, None, skipped=NOT_KEPT))
    for folder in sorted(after.repositories - before.repositories):
        found.append(Change(f"{folder}/.git".lstrip("/"), None, None, skipped=REPOSITORY))
    older = {change.path for change in found if _is_older(change, since, worktree)}
    if not older:
        return found
    known = {change.before for change in found}
    known |= _contents(objects, after, older)
    return [
        replace(change, skipped=MOVED_IN) if change.path in older and change.after not in known else change
        for change in found
    ]


def _came_into_sight(change: Change, since: int, worktree: Path, ignored: frozenset[str]) -> bool:
    """Whether a rule of git went, and nothing else happened to the file."""
    if change.mode_before is not None or not under(change.path, ignored):
        return False
    try:
        return os.lstat(worktree / change.path).st_ctime_ns < since
    except OSError:
        return False


def _is_older(change: Change, since: int, worktree: Path) -> bool:
    """Whether the content at a path was made before. A file that is written to keeps its time of birth: only
    of one that is new does it tell something."""
    if change.skipped or change.after is None or change.after == change.before:
        return False
    path = worktree / change.path
    try:
        written = os.lstat(path).st_mtime_ns
        times = [written if written % _SECOND else written + _SECOND - 1]  # archives keep whole seconds
        if change.before is None:
            times.append(born(path) or since)
    except OSError:
        return False
    return min(times) < since


def _contents(objects: ObjectStore, tree: Tree, without: set[str]) -> set[str | None]:
    """The object ids of all files of a tree but some."""
    listed = objects.git(["ls-tree", "-r", "-z", tree.hash], borrowing=True).split(b"\0")[:-1]
    entries = (entry.partition(b"\t") for entry in listed)
    return {
        described.split()[2].decode() for described, _, name in entries if os.fsdecode(name) not in without
    }

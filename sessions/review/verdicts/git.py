"""The working tree against the last commit, as changes: the user's own and everybody else's."""

from __future__ import annotations

import os
from collections.abc import Iterator

from sessions.snapshots.changes import SIZE_LIMIT, TOO_LARGE, Change
from sessions.snapshots.objects import ObjectMissing, ObjectStore, object_id
from sessions.snapshots.project import find_project_git
from sessions.tracking import Tracker
from sessions.undo.files import AS_NEW, UnsafePath, read_file
from sessions.worktrees.git import GitError, git, not_ignored, unfiltered

MOST_UNTRACKED = 2000
_COMPARE = ("diff-index", "--raw", "-z", "--no-renames", "--relative", "--ignore-submodules=all")
_SUBMODULE = 0o160000


def working_tree(project: Tracker) -> tuple[list[Change], str | None]:
    """What `git diff HEAD` and new files amount to, and why it is not known, if so. The user's repository and
    index are read only; contents of files on the disk are put into our store."""
    try:
        head = _git(project, "rev-parse", "--verify", "-q", "HEAD").decode().strip()
    except GitError:
        return [], "This folder has no git commit to compare with."
    try:
        raw = _git(project, *_COMPARE, head)
        names = not_ignored(project.worktree)
    except GitError as error:
        return [], f"git could not be asked: {error}"
    _borrow(raw, project)
    untracked = (_against(project, name, None, None) for name in names[:MOST_UNTRACKED])
    found = [*_tracked(raw, project), *untracked]
    left = len(names) - MOST_UNTRACKED
    return [
        change for change in found if change
    ], f"{left} more new files are left out." if left > 0 else None


def _borrow(raw: bytes, project: Tracker) -> None:
    """Make the committed contents of what has changed our own, in one go."""
    project.objects.borrow(find_project_git(project.worktree).objects)
    before = {described.split()[2].decode() for described in raw.split(b"\0")[:-1:2]}
    project.objects.own(before - {"0" * 40})


def _tracked(raw: bytes, project: Tracker) -> Iterator[Change | None]:
    """Read the raw output format of git-diff-index(1)."""
    fields = raw.split(b"\0")[:-1]
    for described, path in zip(fields[::2], fields[1::2], strict=True):
        mode, mode_now, before, _, _ = described.decode().removeprefix(":").split()
        if _SUBMODULE not in (int(mode, 8), int(mode_now, 8)):
            yield _against(
                project, os.fsdecode(path), before, int(mode, 8) | AS_NEW if int(mode, 8) else None
            )


def _against(project: Tracker, path: str, before: str | None, mode: int | None) -> Change | None:
    """One file against its content in git; None when they are the same after all."""
    try:
        now = read_file(project.worktree, path)
    except (OSError, UnsafePath):
        return None
    before = before if mode else None
    if now is None:
        return Change(path, before, None, mode, None) if before else None
    if len(now.content) > SIZE_LIMIT:
        return Change(path, None, None, skipped=TOO_LARGE)
    after = object_id(now.content)
    if before:
        before = _as_checked_out(project.objects, before, now.content)
    if before == after and mode is not None and (mode ^ now.mode) & 0o100 == 0:
        return None
    return Change(path, before, project.objects.put(now.content), mode, now.mode)


def _as_checked_out(objects: ObjectStore, oid: str, now: bytes) -> str:
    """git may keep a file with other line ends than it checks out (core.autocrlf, gitattributes(5))."""
    try:
        kept = objects.get(oid)
    except ObjectMissing:
        return oid
    converted = b"\r\n" in now and b"\r" not in kept and b"\n" not in now.replace(b"\r\n", b"")
    return objects.put(kept.replace(b"\n", b"\r\n")) if converted else oid


def _git(project: Tracker, *arguments: str) -> bytes:
    """The repository may be anybody's: nothing that its configuration names is run."""
    return git(project.worktree, *arguments, settings=unfiltered(project.worktree))

"""Working trees of the repository: which there are, making one, removing one.

Those that a fork or the agent's API makes come of `sessions.changes.worktrees`, without the person's
configuration; these are `git worktree`, as in a terminal.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from django.utils.translation import gettext

from sessions.changes.git.branches import HEADS, REMOTES, required, valid
from sessions.changes.git.command import REMOTE_SECONDS, Git, GitError
from sessions.changes.git.stash import keep
from sessions.changes.worktrees.removal import CannotRemove, Losses, losses


@dataclass(frozen=True, slots=True)
class Worktree:
    """`branch` is its whole name, empty where none is checked out. `locked`: it must not go; `gone`: its
    folder is no more."""

    folder: str
    commit: str
    branch: str
    main: bool
    current: bool
    locked: bool
    gone: bool

    @property
    def name(self) -> str:
        return self.branch.removeprefix(HEADS)


def worktrees(git: Git) -> list[Worktree]:
    """That of the repository first. Raises GitError."""
    output = os.fsdecode(git.read("worktree", "list", "--porcelain", "-z"))
    top = os.path.realpath(git.top)
    found: list[Worktree] = []
    for block in output.removesuffix("\0\0").split("\0\0"):
        about = dict(line.partition(" ")[::2] for line in block.split("\0") if line)
        folder = about.get("worktree", "")
        if folder and "bare" not in about:
            current = os.path.realpath(folder) == top
            branch, commit = about.get("branch", ""), about.get("HEAD", "")
            gone = "prunable" in about or not os.path.isdir(folder)
            found.append(Worktree(folder, commit, branch, not found, current, "locked" in about, gone))
    return found


def named(git: Git, folder: str) -> Worktree:
    """The one in that folder. Raises GitError."""
    found = next((each for each in worktrees(git) if each.folder == folder), None)
    if found is None:
        raise GitError(gettext("There is no such worktree any more."))
    return found


def add(git: Git, folder: Path, *, name: str = "", ref: str = "") -> str:
    """One in a folder that is not there yet, of a new branch `name` or of a branch `ref` that is there; one
    of a remote gets a branch of here that follows it. Raises GitError."""
    if ref:
        required(git, ref)
        if ref.startswith(HEADS):
            how = [str(folder), ref.removeprefix(HEADS)]
        else:
            short = ref.removeprefix(REMOTES)
            how = ["--track", "-b", valid(git, short.partition("/")[2]), str(folder), short]
    else:
        how = ["-b", valid(git, name), str(folder)]
    return git.write("worktree", "add", *how, seconds=REMOTE_SECONDS)


def lost(git: Git, folder: str) -> Losses:
    """What is in a worktree and nowhere else. Raises GitError."""
    _removable(git, folder)
    try:
        return losses(Path(folder))
    except CannotRemove as error:
        raise GitError(str(error)) from error


def remove(git: Git, folder: str, seen: str, there: Git) -> str:
    """The one whose losses were `seen` (their key): what is in no commit is put aside first, by git `there`,
    and its branch stays. Raises GitError."""
    now = _removable(git, folder)
    if lost(git, folder).key != seen:
        raise GitError(gettext("The worktree has changed since this was shown. Look at it again."))
    if not now.gone:
        keep(there, f"From the worktree {Path(folder).name}", new=True)
    return git.write("worktree", "remove", "--force", folder) or gettext("Removed the worktree %(name)s.") % {
        "name": Path(folder).name
    }


def _removable(git: Git, folder: str) -> Worktree:
    now = named(git, folder)
    if now.main or now.current:
        raise GitError(gettext("This is where you are, or the repository itself: it stays."))
    if now.locked:
        raise GitError(gettext("This worktree is locked (git worktree lock): unlock it first."))
    return now

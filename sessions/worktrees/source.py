"""The repository that a worktree is made from: whether one can be made, and which files it begins with."""

from __future__ import annotations

import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .git import GitError, git, listed, not_ignored, words

_SUBMODULE = "160000"


class CannotFork(Exception):
    """No worktree can be made; the text is for the person who asked."""


@dataclass(frozen=True, slots=True)
class Source:
    """`commit` is HEAD; `files` are the tracked and untracked files that are there and not ignored, relative
    to `top`, `size` their bytes; `left_out` are folders that are repositories of their own."""

    top: Path
    commit: str
    files: tuple[str, ...]
    size: int
    left_out: tuple[str, ...]


def look(top: Path) -> Source:
    """Reads only. Raises CannotFork with the reason."""
    commit = head(top)
    try:
        tracked = _tracked(top)
        untracked = not_ignored(top)
    except GitError as error:
        raise CannotFork(f"git cannot list the files of this repository: {words(error)}") from error
    nested = tuple(name for name in untracked if name.endswith("/"))
    sizes = _sizes(top.resolve(), {*tracked, *untracked} - {*nested})
    return Source(top, commit, tuple(sorted(sizes)), sum(sizes.values()), nested)


def head(top: Path) -> str:
    """The last commit. Raises CannotFork where there is none, or no repository."""
    if not (top / ".git").exists():
        raise CannotFork("This project is no git repository, and only a repository can have worktrees.")
    try:
        return git(top, "rev-parse", "--verify", "--quiet", "HEAD^{commit}").decode().strip()
    except GitError as error:
        if "fatal:" in str(error):
            raise CannotFork(f"git does not accept this repository: {words(error)}") from error
        raise CannotFork("This repository has no commit yet, and a worktree begins with one.") from error


def _tracked(top: Path) -> list[str]:
    names = []
    for entry in listed(git(top, "ls-files", "--cached", "--stage", "-v", "-z")):
        described, _, name = entry.partition("\t")
        tag, mode, *_ = described.split()
        if mode == _SUBMODULE:
            raise CannotFork("This repository has submodules, which git does not keep apart in worktrees.")
        if tag in "Ss":
            raise CannotFork("This repository has a sparse checkout: its files are not all at hand.")
        names.append(name)
    return names


def _sizes(top: Path, names: set[str]) -> dict[str, int]:
    """Bytes of each that is a file or a link of the working tree: not gone, no folder, not beyond a link."""
    folders = {name.rpartition("/")[0] for name in names}
    plain = {folder for folder in folders if (top / folder).resolve() == top / folder}
    found = {}
    for name in names:
        if name.rpartition("/")[0] not in plain:
            continue
        with suppress(OSError):
            seen = (top / name).lstat()
            if stat.S_ISREG(seen.st_mode) or stat.S_ISLNK(seen.st_mode):
                found[name] = seen.st_size
    return found

"""git on the user's own repository, for worktrees alone.

No hook, no filter and no configuration of the user's surroundings has a say; the repository's own
configuration counts, less what would run a program.
"""

from __future__ import annotations

import os
from pathlib import Path

from sessions.snapshots.git import GitError, run_git
from sessions.snapshots.project import find_project_git

__all__ = ["GitError", "git", "listed", "not_ignored", "unfiltered", "words"]

_SAFE = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "log.showSignature=false",
)
_FILTER = ("clean=", "smudge=", "process=", "required=false")


def git(folder: Path, *arguments: str, stdin: bytes = b"", settings: tuple[str, ...] = ()) -> bytes:
    """Standard output of git in a folder. Raises GitError. It takes no lock that it does not need."""
    given = [part for setting in (*_SAFE, *settings) for part in ("-c", setting)]
    return run_git([*given, *arguments], cwd=folder, stdin=stdin, extra={"GIT_OPTIONAL_LOCKS": "0"})


def listed(output: bytes) -> list[str]:
    """The names in output that ends each with a NUL byte; bytes that are not UTF-8 are surrogate escapes."""
    return [os.fsdecode(name) for name in output.split(b"\0")[:-1]]


def not_ignored(folder: Path) -> list[str]:
    """Untracked files that no ignore rule covers, the user's own rules included; a nested repository is one
    name with a slash at its end."""
    excludes = find_project_git(folder).global_excludes
    settings = (f"core.excludesFile={excludes}",) if excludes else ()
    return listed(git(folder, "ls-files", "--others", "--exclude-standard", "-z", settings=settings))


def unfiltered(folder: Path) -> tuple[str, ...]:
    """Settings that switch off the filters which the repository's configuration names."""
    try:
        found = git(folder, "config", "--name-only", "-z", "--get-regexp", r"^filter\.")
    except GitError:  # none is named
        return ()
    names = {name.removeprefix("filter.").rpartition(".")[0] for name in listed(found)}
    return tuple(f"filter.{name}.{setting}" for name in sorted(names) for setting in _FILTER)


def words(error: GitError) -> str:
    """What git answered, without what it was asked."""
    return str(error).rpartition("fatal: ")[2].strip()

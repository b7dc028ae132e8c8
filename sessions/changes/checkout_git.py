"""git on the user's own repository, for worktrees alone.

No hook, no filter and no configuration of the user's surroundings has a say; the repository's own
configuration counts, less what would run a program.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from sessions.changes.snapshots.project import find_project_git
from sessions.core.git import GitError, run_git

__all__ = ["GitError", "Setting", "excluding", "git", "listed", "not_ignored", "unfiltered", "words"]

Setting = tuple[str, str]

_SAFE: tuple[Setting, ...] = (
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("log.showSignature", "false"),
)
_FILTER: tuple[Setting, ...] = (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false"))


def git(
    folder: Path,
    *arguments: str,
    stdin: bytes = b"",
    settings: Sequence[Setting] = (),
    extra: Mapping[str, str] | None = None,
    seconds: float | None = None,
) -> bytes:
    """Standard output of git in a folder. Raises GitError. It takes no lock that it does not need; `extra`
    are variables of its environment; after `seconds` it is ended."""
    environ = {"GIT_OPTIONAL_LOCKS": "0", **_configured([*_SAFE, *settings]), **(extra or {})}
    return run_git(arguments, cwd=folder, stdin=stdin, extra=environ, seconds=seconds)


def _configured(settings: Sequence[Setting]) -> dict[str, str]:
    """Configuration as variables, and not as `-c`, which would part a name that has a `=` in it."""
    named = {f"GIT_CONFIG_KEY_{number}": name for number, (name, _) in enumerate(settings)}
    values = {f"GIT_CONFIG_VALUE_{number}": value for number, (_, value) in enumerate(settings)}
    return {"GIT_CONFIG_COUNT": str(len(settings)), **named, **values}


def listed(output: bytes) -> list[str]:
    """The names in output that ends each with a NUL byte; bytes that are not UTF-8 are surrogate escapes."""
    return [os.fsdecode(name) for name in output.split(b"\0")[:-1]]


def not_ignored(folder: Path) -> list[str]:
    """Untracked files that no ignore rule covers, the user's own rules included; a nested repository is one
    name with a slash at its end."""
    return listed(git(folder, "ls-files", "--others", "--exclude-standard", "-z", settings=excluding(folder)))


def excluding(folder: Path) -> tuple[Setting, ...]:
    """The setting that has the user's own ignore file count."""
    excludes = find_project_git(folder).global_excludes
    return (("core.excludesFile", str(excludes)),) if excludes else ()


def unfiltered(folder: Path) -> tuple[Setting, ...]:
    """Settings that switch off the filters which the repository's configuration names."""
    try:
        found = git(folder, "config", "--name-only", "-z", "--get-regexp", r"^filter\.")
    except GitError:  # none is named
        return ()
    names = {name.removeprefix("filter.").rpartition(".")[0] for name in listed(found)}
    return tuple((f"filter.{name}.{part}", value) for name in sorted(names) for part, value in _FILTER)


def words(error: GitError) -> str:
    """What git answered, without what it was asked."""
    return str(error).rpartition("fatal: ")[2].strip()

"""Changes that are put aside."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sessions.changes.git.command import Git, GitError

_HASH = re.compile(r"[0-9a-f]{40,64}")
_FORMAT = "%H%x00%at%x00%gs%x00"


@dataclass(frozen=True, slots=True)
class Stash:
    """`time` is in milliseconds."""

    commit: str
    time: int
    words: str


def stashes(git: Git) -> list[Stash]:
    """The last first. Raises GitError."""
    fields = git.read("stash", "list", f"--format={_FORMAT}").decode("utf-8", "replace").split("\0")
    rows = (fields[at : at + 3] for at in range(0, len(fields) - 3, 3))
    return [Stash(commit.lstrip("\n"), int(time) * 1000, words) for commit, time, words in rows]


def put_aside(git: Git, words: str) -> str:
    """All changes, new files too. Raises GitError."""
    said = ("--message", words.strip()) if words.strip() else ()
    return git.write("stash", "push", "--include-untracked", *said)


def take_back(git: Git, commit: str) -> str:
    """Into the files, what was staged as staged; it stays put aside, too. Raises GitError."""
    return git.write("stash", "apply", "--index", _hash(commit))


def drop(git: Git, commit: str) -> str:
    """Raises GitError."""
    known = [stash.commit for stash in stashes(git)]
    if commit not in known:
        raise GitError("It is not put aside any more.")
    return git.write("stash", "drop", f"stash@{{{known.index(commit)}}}")


def store(git: Git, commit: str, words: str) -> str:
    """One that was dropped, once more. Raises GitError."""
    return git.write("stash", "store", "--message", words, _hash(commit))


def _hash(commit: str) -> str:
    if not _HASH.fullmatch(commit):
        raise GitError("This is nothing that was put aside.")
    return commit

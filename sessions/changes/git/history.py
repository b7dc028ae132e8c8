"""Commits that were made: the log, of all or of one file, and what each changed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from django.utils.translation import gettext

from sessions.changes.git.command import Git, GitError
from sessions.changes.git.graph import Row, graph
from sessions.changes.git.sides import COMPARE, Sides, read
from sessions.changes.git.status import File

PAGE = 50
"""Commits that are shown at once."""
_FORMAT = "%H%x00%h%x00%at%x00%an%x00%D%x00%s%x00"
_EVERY = ("--branches", "--remotes", "--tags", "HEAD")
_HASH = re.compile(r"[0-9a-f]{40,64}")


@dataclass(frozen=True, slots=True)
class Commit:
    """`time` is in milliseconds; `refs` are the branches and tags there, in git's words."""

    hash: str
    short: str
    time: int
    author: str
    refs: str
    subject: str


def log(git: Git, *, skip: int = 0, path: str = "", every: bool = False) -> list[Commit]:
    """One more than a page, the newest first; with a path those that changed that file, with `every` those of
    all branches and tags. Raises GitError."""
    if not git.asked("rev-parse", "--verify", "--quiet", "HEAD"):
        return []
    asked = ("log", f"--max-count={PAGE + 1}", f"--skip={skip}", f"--format={_FORMAT}", "--decorate=short")
    of = _EVERY if every else ()
    only = ("--", path) if path else ()
    return list(_read(git.read(*asked, *of, *only).decode("utf-8", "replace")))


def lanes(git: Git, *, skip: int = 0, every: bool = False) -> list[Row]:
    """How the commits of that page hang together. Raises GitError."""
    of = _EVERY if every else ("HEAD",)
    output = git.read("rev-list", "--parents", f"--max-count={skip + PAGE}", *of).decode()
    rows = graph((line.split()[0], line.split()[1:]) for line in output.splitlines())
    return list(islice(rows, skip, None))


def _read(output: str) -> Iterator[Commit]:
    fields = output.split("\0")
    for at in range(0, len(fields) - 6, 6):
        full, short, time, author, refs, subject = fields[at : at + 6]
        yield Commit(full.lstrip("\n"), short, int(time) * 1000, author, refs, subject)


def is_here(git: Git, commit: str) -> bool:
    """Whether what is checked out has a commit. Raises GitError."""
    return git.asked("rev-list", "--count", "--max-count=1", checked(commit), "--not", "HEAD") == "0"


def message(git: Git, commit: str) -> str:
    """All of it. Raises GitError."""
    return git.read("log", "-1", "--format=%B", checked(commit)).decode("utf-8", "replace").strip()


def changed(git: Git, commit: str) -> list[File]:
    """The files that a commit changed, of a merge those beside its first parent. Raises GitError."""
    output = git.read("show", *_OF_ONE, "--name-status", "-z", "--no-renames", checked(commit))
    fields = [os.fsdecode(field) for field in output.split(b"\0") if field]
    return [
        File(path.lstrip("\n"), letter.strip())
        for letter, path in zip(fields[::2], fields[1::2], strict=False)
    ]


def sides_of(git: Git, commit: str, path: str) -> Sides | None:
    """A file before and after a commit. Raises GitError."""
    return read(git.read("show", *_OF_ONE, *COMPARE, checked(commit), "--", path))


@dataclass(frozen=True, slots=True)
class Blame:
    """Of a file as it is: the `commits` that its lines are from, and for each line which of them, by its
    place there; -1 for one that is in no commit yet."""

    commits: tuple[Commit, ...]
    lines: tuple[int, ...]


def blame(git: Git, path: str) -> Blame:
    """Raises GitError, also for a file that is in no commit yet."""
    output = git.read("blame", "--porcelain", "--no-textconv", "--", path)
    abouts: dict[str, dict[str, str]] = {}
    lines: list[str] = []
    for line in output.split(b"\n"):
        if line.startswith(b"\t"):
            continue
        name, _, value = line.decode("utf-8", "replace").partition(" ")
        if _HASH.fullmatch(name):
            abouts.setdefault(name, {})
            lines.append(name)
        elif lines:
            abouts[lines[-1]][name] = value
    known = {name: about for name, about in abouts.items() if name.strip("0")}
    places = {name: number for number, name in enumerate(known)}
    commits = tuple(
        Commit(
            name,
            name[:10],
            int(about.get("author-time", "0")) * 1000,
            about.get("author", ""),
            "",
            about.get("summary", ""),
        )
        for name, about in known.items()
    )
    return Blame(commits, tuple(places.get(name, -1) for name in lines))


_OF_ONE = ("--format=", "--diff-merges=first-parent")


def checked(commit: str) -> str:
    """A commit by its hash, so that it is no option. Raises GitError."""
    if not _HASH.fullmatch(commit):
        raise GitError(gettext("This is no commit."))
    return commit

"""What a schedule waits for that has no time: files of its project, and commits on a branch.

What is there has a mark, which is another one when it changes; the row keeps the last one seen. So a change
counts once, and one that came while nobody was there is seen afterwards.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from hashlib import sha256
from pathlib import Path

from sessions.changes.checkout_git import GitError
from sessions.changes.snapshots.watching.recall import Mark, mark
from sessions.changes.vcs import Checkout, named
from sessions.core.models import Schedule
from sessions.core.repository import Repository
from sessions.core.wire.patterns import matches
from sessions.project.search import SearchFailed
from sessions.project.search.listing import listing
from sessions.project.watching import changes

Kind = Schedule.Kind
KINDS = (Kind.FILES, Kind.COMMIT)
BRANCHES_SECONDS = 1.0
"""How often the files of branches are looked at."""
UNWATCHED_SECONDS = 30.0
"""How often files are, where the system does not tell that they change."""


def seen(kind: str, rule: str, folder: Path) -> str:
    """The mark of what a schedule of this rule waits for, as it is now; empty where there is nothing of it
    (no such branch). Reads files."""
    if kind == Kind.FILES:
        return _files(folder, [line.strip() for line in rule.splitlines() if line.strip()])
    return _commit(folder, rule) if kind == Kind.COMMIT else ""


def _files(folder: Path, patterns: Collection[str]) -> str:
    try:
        names = listing(folder).files
    except (SearchFailed, OSError):
        return ""
    fits = sorted(name for name in names if any(matches(pattern, name) for pattern in patterns))
    return sha256(repr([(name, mark(folder / name)) for name in fits]).encode()).hexdigest()


def _commit(folder: Path, branch: str) -> str:
    try:
        checkout = Checkout(folder)
        remote = checkout.asked("rev-parse", "--verify", "--quiet", f"refs/remotes/{branch}^{{commit}}")
        return named(checkout, branch) or remote
    except GitError:
        return ""


async def watch_files(folder: Path, told: Callable[[], None]) -> None:
    """Call `told` each time that files of a folder change, until it is cancelled."""
    async for _ in changes(folder):
        told()
    while True:  # nobody tells here
        await asyncio.sleep(UNWATCHED_SECONDS)
        told()


async def watch_branches(folder: Path, branches: Collection[str], told: Callable[[], None]) -> None:
    """Call `told` each time that one of some branches may be at another commit, until it is cancelled."""
    before = None
    while True:
        now = await asyncio.to_thread(_marks, folder, branches)
        if before is not None and now != before:
            told()
        before = now
        await asyncio.sleep(BRANCHES_SECONDS)


def _marks(folder: Path, branches: Collection[str]) -> tuple[Mark, ...]:
    """Of the files in which git has branches: one each, all packed in one, or in tables
    (gitrepository-layout(5), git-refs(1))."""
    try:
        git = _shared(Repository.of(folder).worktree)
    except OSError:
        return ()
    places = [git / "packed-refs", git / "reftable" / "tables.list"]
    for branch in branches:
        places += (git / "refs" / kind / branch for kind in ("heads", "remotes", "remotes/origin"))
    return tuple(map(mark, places))


def _shared(top: Path) -> Path:
    """The folder with the branches of a working tree, also of one that shares another's. Raises OSError."""
    git = top / ".git"
    if git.is_file():
        git = top / git.read_text("utf-8", "surrogateescape").partition("gitdir:")[2].strip()
        shared = git / "commondir"
        if shared.is_file():
            git = git / shared.read_text("utf-8", "surrogateescape").strip()
    return git

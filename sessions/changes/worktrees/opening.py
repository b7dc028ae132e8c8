"""Make a git worktree with the files of the last commit, and bring one back to the default branch. All
functions block, save `recorded`."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Collection
from pathlib import Path

from django.utils.translation import gettext, ngettext

from sessions.changes import vcs
from sessions.changes.checkout_git import GitError, words
from sessions.changes.vcs import Checkout
from sessions.changes.worktrees.making import CannotFork, Made, begin, head, home_of, slug_of
from sessions.changes.worktrees.removal import CannotRemove, Losses, losses
from sessions.core.db import in_db
from sessions.core.models import Project
from sessions.core.store import projects


def open_worktree(
    project_id: str, top: Path, name: str, taken: Collection[str] = (), *, commit: str = ""
) -> Made:
    """A new worktree on a branch of its own, `opencode/<name>`, of a commit, or of the last one; a name that
    is taken gets a suffix.

    Raises CannotFork, and leaves nothing behind then. Filters do not run: large files are LFS pointers.
    """
    commit, home = commit or head(top), home_of(project_id)
    note = begin(top, commit, home, free_slug(top, home, name, "worktree", taken))
    place = note.place
    try:
        original, made = Checkout(top), Checkout(Path(place.making))
        original.git("worktree", "add", "--no-checkout", "-b", place.branch, place.making, commit)
        made.git("read-tree", "--reset", "-u", "HEAD")
        original.git("worktree", "move", place.making, place.folder)
    except BaseException as error:
        note.discard()
        if isinstance(error, GitError):
            raise CannotFork(gettext("git made no worktree: %(error)s") % {"error": words(error)}) from error
        raise
    return Made(Path(place.folder), place.branch, (), (), note)


async def recorded(original: Project, made: Made) -> Project:
    """The project of a new worktree of another's, kept in the database; where that fails it goes away."""
    row = projects.worktree_row(original, made.folder, made.branch)
    try:
        await in_db(projects.add_worktree, row)
    except BaseException:
        await asyncio.to_thread(made.note.discard)
        raise
    await asyncio.to_thread(made.note.close)
    return row


def free_slug(top: Path, home: Path, name: str, other: str, taken: Collection[str] = ()) -> str:
    """What a folder and a branch of that name are called: with a suffix where it is taken, and where no name
    was given that of the `other`."""
    slug = slug_of(name or other)
    if not name or slug in taken or (home / slug).exists() or _has_branch(Checkout(top), slug):
        return f"{slug}-{secrets.token_hex(3)}"
    return slug


def _has_branch(checkout: Checkout, slug: str) -> bool:
    return bool(checkout.asked("rev-parse", "--verify", "--quiet", f"refs/heads/opencode/{slug}"))


class CannotReset(Exception):
    """The worktree stays as it is; the text is for the person who asked."""


def reset(folder: Path) -> None:
    """Bring a worktree to the default branch of its repository, as far as nothing is lost by it.

    Ignored files stay. Raises CannotReset.
    """
    checkout = Checkout(folder)
    name = vcs.default(checkout)
    try:
        if held := what_is_lost(losses(folder)):
            raise CannotReset(gettext("The worktree has %(held)s that would be lost.") % {"held": held})
        if not name:
            raise CannotReset(gettext("The repository has no default branch."))
        checkout.git("reset", "--quiet", "--hard", vcs.named(checkout, name))
    except CannotRemove as error:
        raise CannotReset(str(error)) from error
    except GitError as error:
        raise CannotReset(gettext("git did not reset it: %(error)s") % {"error": words(error)}) from error


def what_is_lost(found: Losses, *, branch: bool = True) -> str:
    """What is in a worktree and nowhere else, in words; empty for nothing. With `branch` commits that only
    its branch has count."""
    commits = len(found.loose) + (len(found.commits) if branch else 0)
    changed, new = len(found.changed), len(found.untracked)
    counted = (
        (changed, ngettext("%(count)s changed file", "%(count)s changed files", changed)),
        (new, ngettext("%(count)s new file", "%(count)s new files", new)),
        (commits, ngettext("%(count)s commit", "%(count)s commits", commits)),
    )
    *others, last = [words % {"count": count} for count, words in counted if count] or [""]
    return (
        gettext("%(others)s and %(last)s") % {"others": ", ".join(others), "last": last} if others else last
    )

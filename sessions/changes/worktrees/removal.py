"""Remove a worktree that was made for a fork, after showing what goes with it. All functions block."""

from __future__ import annotations

import hashlib
import json
import shutil
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext

from sessions.changes.checkout_git import GitError, git, listed, not_ignored, unfiltered, words

_MOST_SHOWN = 200
_ELSEWHERE = ("--branches", "--tags", "--remotes")


class CannotRemove(Exception):
    """The worktree stays; the text is for the person who asked."""


@dataclass(frozen=True, slots=True)
class Commit:
    """One that no other branch, tag or remote has."""

    short: str
    subject: str


@dataclass(frozen=True, slots=True)
class Losses:
    """What is in a worktree and nowhere else.

    `changed` are tracked files that differ from the last commit, `untracked` new ones, `ignored` how many
    names an ignore rule covers. `loose` are commits on no branch at all, which go with the worktree;
    `commits` those that only its `branch` has, which go when the branch is deleted too.
    """

    branch: str = ""
    changed: tuple[str, ...] = ()
    untracked: tuple[str, ...] = ()
    ignored: int = 0
    loose: tuple[Commit, ...] = ()
    commits: tuple[Commit, ...] = ()

    @property
    def key(self) -> str:
        """Names exactly these losses: what a person has seen and agreed to."""
        return hashlib.sha256(json.dumps(asdict(self)).encode("utf-8", "surrogateescape")).hexdigest()[:32]

    @property
    def shown(self) -> tuple[str, ...]:
        """The first of the files that would be lost."""
        return (*self.changed, *self.untracked)[:_MOST_SHOWN]

    @property
    def files(self) -> int:
        return len(self.changed) + len(self.untracked)


def losses(folder: Path) -> Losses:
    """What removing a worktree would lose; nothing for one that is gone. Raises CannotRemove."""
    if not folder.exists():
        return Losses()
    try:
        return _losses(folder)
    except GitError as error:
        raise CannotRemove(
            gettext("git cannot say what would be lost: %(error)s") % {"error": words(error)}
        ) from error


def remove(folder: Path, repository: Path, seen: str, *, with_branch: bool) -> None:
    """Remove a worktree whose losses are still those that were `seen`.

    Its branch goes when it holds nothing of its own, or `with_branch`. Raises CannotRemove.
    """
    home = Path(settings.WORKTREE_DIR).resolve()
    if home not in folder.resolve().parents:
        raise CannotRemove(gettext("This folder was not made by this app."))
    now = losses(folder)
    if now.key != seen:
        raise CannotRemove(gettext("The worktree has changed since this was shown. Look at it again."))
    try:
        _remove(folder, repository)
    except OSError as error:
        raise CannotRemove(
            gettext("The folder cannot be removed: %(strerror)s.") % {"strerror": error.strerror}
        ) from error
    if now.branch.startswith("opencode/") and (with_branch or not now.commits):
        with suppress(GitError):
            git(repository, "branch", "-D", "--", now.branch)


def _remove(folder: Path, repository: Path) -> None:
    with suppress(GitError):  # git may know it no longer, or the repository is gone
        git(repository, "worktree", "remove", "--force", str(folder))
    if folder.exists():
        shutil.rmtree(folder)


def _losses(folder: Path) -> Losses:
    # "dirty": git would start in a submodule with the configuration of that one.
    quiet = ("--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty")
    compare = ("diff", "--name-only", *quiet, "-z", "HEAD")
    ignored = git(folder, "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
    branch = _branch(folder)
    return Losses(
        branch=branch,
        changed=(*listed(git(folder, *compare, settings=unfiltered(folder))), *_submodules(folder)),
        untracked=tuple(not_ignored(folder)),
        ignored=len(listed(ignored)),
        loose=_commits(folder, "HEAD", "--not", *_ELSEWHERE),
        commits=_commits(folder, "HEAD", "--not", f"--exclude={branch}", *_ELSEWHERE) if branch else (),
    )


def _submodules(folder: Path) -> list[str]:
    """Those that are checked out, whatever they hold: git is not asked with their own configuration."""
    entries = listed(git(folder, "ls-files", "--stage", "-z"))
    links = (entry.partition("\t")[2] for entry in entries if entry.startswith("160000 "))
    return [f"{name}/" for name in links if (folder / name / ".git").exists()]


def _branch(folder: Path) -> str:
    """The branch that is checked out; empty for none."""
    try:
        return git(folder, "symbolic-ref", "--quiet", "--short", "HEAD").decode(errors="replace").strip()
    except GitError:
        return ""


def _commits(folder: Path, *asked: str) -> tuple[Commit, ...]:
    output = git(folder, "log", "-z", "--format=%h%x20%s", "--max-count=100", *asked)
    lines = output.decode("utf-8", "replace").split("\0")
    return tuple(Commit(*line.partition(" ")[::2]) for line in lines if line)

"""Branches: which there are, and changing to, making, renaming and deleting one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import gettext

from sessions.changes.git.command import Git, GitError

_HASH = re.compile(r"[0-9a-f]{40,64}")
HEADS, REMOTES = "refs/heads/", "refs/remotes/"
MOST = 200
"""Branches that are listed, those with the newest commits."""
_FORMAT = "%00".join(
    (
        "%(refname)", "%(objectname)", "%(HEAD)", "%(upstream:short)", "%(upstream:track,nobracket)",
        "%(committerdate:unix)", "%(worktreepath)", "%(subject)",
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Branch:
    """`ref` is its whole name, `time` that of its last commit in milliseconds, `track` how far it is from the
    one it follows (`upstream`), in git's words. `elsewhere`: it is checked out in another worktree, there."""

    ref: str
    commit: str
    current: bool
    upstream: str
    track: str
    time: int
    elsewhere: str
    subject: str

    @property
    def name(self) -> str:
        return self.ref.removeprefix(HEADS).removeprefix(REMOTES)

    @property
    def remote(self) -> bool:
        return self.ref.startswith(REMOTES)


def branches(git: Git) -> list[Branch]:
    """Those of here and of remotes, the last changed first. Raises GitError."""
    asked = ("for-each-ref", f"--count={MOST}", "--sort=-committerdate", f"--format={_FORMAT}%00")
    return list(_read(git.read(*asked, HEADS, REMOTES).decode("utf-8", "replace"), git))


def _read(output: str, git: Git) -> Iterator[Branch]:
    fields = output.split("\0")
    for at in range(0, len(fields) - 8, 8):
        ref, commit, mark, upstream, track, time, place, subject = fields[at : at + 8]
        ref = ref.lstrip("\n")
        if not ref.endswith("/HEAD"):
            elsewhere = "" if mark == "*" or place in ("", str(git.top)) else place
            yield Branch(ref, commit, mark == "*", upstream, track, int(time or 0) * 1000, elsewhere, subject)


def switch(git: Git, ref: str) -> str:
    """To a branch of here, or to a new one that follows one of a remote. What stands in the way is in the
    error. Raises GitError."""
    required(git, ref)
    if ref.startswith(REMOTES):
        return git.write("switch", "--track", ref.removeprefix(REMOTES))
    return git.write("switch", "--no-guess", ref.removeprefix(HEADS))


def create(git: Git, name: str, *, at: str = "", stay: bool = False) -> str:
    """A new one from the last commit, or from another, and change to it. Raises GitError."""
    new = valid(git, name)
    if at and not _HASH.fullmatch(at):
        raise GitError(gettext("This is no commit."))
    start = (at,) if at else ()
    return git.write("branch", new, *start) if stay else git.write("switch", "--create", new, *start)


def rename(git: Git, ref: str, name: str) -> str:
    """Raises GitError."""
    required(git, ref)
    return git.write("branch", "--move", ref.removeprefix(HEADS), valid(git, name))


def only_there(git: Git, ref: str) -> list[str]:
    """The commits on no other branch and under no tag, by hash and subject; of a branch of a remote those on
    no other there, nor here. Raises GitError."""
    required(git, ref)
    own, remote = ref.removeprefix(HEADS), ref.removeprefix(REMOTES)
    here = ("--branches", f"--exclude={remote}", f"--exclude={remote.partition('/')[0]}/HEAD", "--remotes")
    others = (*here, "--tags") if remote != ref else (f"--exclude={own}", "--branches", "--remotes", "--tags")
    output = git.read("log", "--format=%h %s", ref, "--not", *others)
    return output.decode("utf-8", "replace").splitlines()


def delete(git: Git, ref: str, seen: str) -> str:
    """The branch whose last commit was `seen`. Raises GitError."""
    if required(git, ref) != seen:
        raise GitError(gettext("The branch has other commits by now. Look at it again."))
    return git.write("branch", "--delete", "--force", ref.removeprefix(HEADS))


def required(git: Git, ref: str) -> str:
    """The last commit of a branch that is there, so that its name is no option. Raises GitError."""
    commit = git.asked("show-ref", "--verify", "--hash", ref) if ref.startswith((HEADS, REMOTES)) else ""
    if not commit:
        raise GitError(gettext("There is no such branch any more."))
    if ref.removeprefix(HEADS).removeprefix(REMOTES).startswith("-"):
        raise GitError(gettext("git takes the name of this branch for an option. Rename it in a terminal."))
    return commit


def valid(git: Git, name: str) -> str:
    """A name that a branch may have. Raises GitError."""
    new = name.strip()
    if not new or new.startswith("-") or not git.asked("check-ref-format", "--branch", new):
        raise GitError(gettext("This is no name that a branch may have."))
    return new

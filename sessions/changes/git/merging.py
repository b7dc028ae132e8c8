"""Bringing a branch into the one that is checked out, after a look at what comes of it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from django.utils.translation import gettext

from sessions.changes.git.branches import HEADS, REMOTES, required
from sessions.changes.git.command import REMOTE_SECONDS, Git, GitError
from sessions.changes.git.status import File

_TREE = re.compile(r"[0-9a-f]{40,64}")
MOST = 100
"""Commits that are listed."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What merging the branch `ref` would bring, whose last commit is `seen`: `commits` by hash and subject
    (`count` of them), `files` that become others, `conflicts` that are to be resolved then. `forward`: the
    branch only moves on. `unknown` says why git cannot tell what becomes of the files."""

    ref: str
    seen: str
    into: str
    count: int
    commits: list[str]
    files: list[File]
    conflicts: list[str]
    forward: bool
    unknown: str = ""


def preview(git: Git, ref: str) -> Preview:
    """Writes nothing but objects that nobody refers to. Raises GitError."""
    seen = required(git, ref)
    into = git.asked("symbolic-ref", "--quiet", "--short", "HEAD") or gettext("what is checked out")
    if not git.asked("rev-parse", "--verify", "--quiet", "HEAD"):
        raise GitError(gettext("There is no commit yet that it could be merged into."))
    new = git.read("log", f"--max-count={MOST}", "--format=%h %s", seen, "--not", "HEAD")
    count = git.asked("rev-list", "--count", seen, "--not", "HEAD")
    forward = git.asked("merge-base", "HEAD", seen) == git.asked("rev-parse", "HEAD")
    tree, conflicts, unknown = (seen, [], "") if forward else _tree(git, seen)
    return Preview(
        ref,
        seen,
        into,
        int(count or 0),
        new.decode("utf-8", "replace").splitlines(),
        _changed(git, tree) if tree else [],
        conflicts,
        forward,
        unknown,
    )


def merge(git: Git, ref: str, seen: str) -> str:
    """The branch whose last commit was `seen`. Conflicts are in the error. Raises GitError."""
    if required(git, ref) != seen:
        raise GitError(gettext("The branch has other commits by now. Look at it again."))
    name = ref.removeprefix(HEADS).removeprefix(REMOTES)  # the message has it, unless it is a tag's too
    known = git.asked("rev-parse", "--verify", "--quiet", name) == seen
    return git.write("merge", "--no-edit", name if known else ref, seconds=REMOTE_SECONDS)


def _tree(git: Git, seen: str) -> tuple[str, list[str], str]:
    """The files after the merge as a tree, which of them conflict, and why that is not known, if so."""
    try:
        output = git.read("merge-tree", "--write-tree", "--name-only", "-z", "HEAD", seen, fine=(0, 1))
    except GitError as error:
        if "usage:" in str(error) or "write-tree" in str(error):
            return (
                "",
                [],
                gettext("This git is too old to say what becomes of the files (2.38 or newer can)."),
            )
        raise
    tree, *names = os.fsdecode(output).split("\0")
    if not _TREE.fullmatch(tree):
        raise GitError(gettext("git did not say what becomes of the files."))
    return tree, names[: names.index("")] if "" in names else [], ""


def _changed(git: Git, tree: str) -> list[File]:
    asked = ("diff", "--name-status", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-relative")
    fields = os.fsdecode(git.read(*asked, "HEAD", tree)).split("\0")
    return [File(path, letter) for letter, path in zip(fields[::2], fields[1::2], strict=False)]

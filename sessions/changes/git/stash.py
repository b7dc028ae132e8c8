"""Changes that are put aside."""

from __future__ import annotations

import re
from dataclasses import dataclass

from django.utils.translation import gettext

from sessions.changes.git.command import Git, GitError
from sessions.changes.git.sides import index_copy

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


def keep(git: Git, words: str, *, new: bool = False) -> str:
    """What the files hold now is put aside, with `new` also the files that nobody tracks, and stays in them.
    The commit; empty where they are as in the last one. Raises GitError.

    As git-stash(1) has it, which cannot do that in the middle of a merge: a commit of the working tree, whose
    parents are the last commit and one of the index.
    """
    head = git.asked("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    if not head:
        return ""
    with index_copy(git) as index:
        git.read("add", "--all" if new else "--update", "--", ".", index=index)
        tree = git.read("write-tree", index=index).decode().strip()
    if tree == git.asked("rev-parse", f"{head}^{{tree}}"):
        return ""
    beside = _commit(git, f"{head}^{{tree}}", head, words=words)
    commit = _commit(git, tree, head, beside, words=words)
    git.write("stash", "store", "--message", words, commit)
    return commit


def _commit(git: Git, tree: str, *parents: str, words: str) -> str:
    of = [part for parent in parents for part in ("-p", parent)]
    return git.read("commit-tree", tree, *of, stdin=words.encode()).decode().strip()


def take_back(git: Git, commit: str) -> str:
    """Into the files, what was staged as staged where that is possible; it stays put aside, too. Raises
    GitError."""
    try:
        return git.write("stash", "apply", "--index", _hash(commit))
    except GitError as error:
        if "without --index" not in str(error):
            raise
    return git.write("stash", "apply", commit)


def drop(git: Git, commit: str) -> str:
    """Raises GitError."""
    known = [stash.commit for stash in stashes(git)]
    if commit not in known:
        raise GitError(gettext("It is not put aside any more."))
    return git.write("stash", "drop", f"stash@{{{known.index(commit)}}}")


def store(git: Git, commit: str, words: str) -> str:
    """One that was dropped, once more. Raises GitError."""
    return git.write("stash", "store", "--message", words, _hash(commit))


def _hash(commit: str) -> str:
    if not _HASH.fullmatch(commit):
        raise GitError(gettext("This is nothing that was put aside."))
    return commit

"""Apply a patch to a working tree, all of it or nothing."""

from __future__ import annotations

from sessions.snapshots.objects import object_id
from sessions.tracking import Tracker
from sessions.undo.files import FileState, UnsafePath, read_file
from sessions.worktrees.git import listed, words

from .checkout import Checkout, GitError


class NotClean(Exception):
    """The patch is none, leaves the working tree, or does not fit the files; the text says which."""


def apply(checkout: Checkout, patch: str, known: Tracker) -> dict[str, str]:
    """What became of each file of the patch (`add`, `change`, `unlink`), by path.

    git applies it to the files as they are, and refuses `..`, `.git` and what lies beyond a link; its index
    stays as it is. No command that runs meanwhile is taken for who did it. Raises NotClean, having changed
    nothing.
    """
    text = patch.encode("utf-8", "surrogateescape")
    after: dict[str, str | None] = {}

    def write() -> None:
        checkout.git("apply", "--whitespace=nowarn", "-", stdin=text)
        for path in before:
            state = read_file(checkout.top, path)
            after[path] = object_id(state.content) if state else None

    try:
        before = {path: read_file(checkout.top, path) for path in _paths(checkout, text)}
        known.writing(after, write)
    except GitError as error:
        raise NotClean(words(error) or "The patch does not apply.") from error
    except (UnsafePath, OSError) as error:
        raise NotClean(str(error)) from error
    return {path: _became(before[path], after[path]) for path in before}


def _paths(checkout: Checkout, patch: bytes) -> set[str]:
    """The files a patch writes or removes: the names after it and, backwards, those before it."""
    read = ("apply", "--numstat", "-z")
    both = [checkout.git(*read, *way, "-", stdin=patch) for way in ((), ("--reverse",))]
    return {entry.split("\t", 2)[2] for output in both for entry in listed(output)}


def _became(before: FileState | None, after: str | None) -> str:
    if after is None:
        return "unlink"
    return "change" if before else "add"

"""A working tree against a commit: which files differ, by how many lines, and the patches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sessions.changes.checkout_git import listed, words
from sessions.changes.snapshots.objects import object_id
from sessions.changes.tracking import Tracker
from sessions.changes.undo.files import FileState, UnsafePath, read_file
from sessions.changes.vcs.checkout import Checkout, GitError

CONTEXT = 3
"""Lines around a change."""

_STATUS = {"A": "added", "D": "deleted"}
_COMPARE = (
    "diff", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--no-relative",
    "--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules=all",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Changed:
    """`path` is relative to the top of the working tree; a repository in it that nobody tracks ends with a
    slash. Lines are not counted in binary and very large files."""

    path: str
    status: str
    additions: int = 0
    deletions: int = 0
    patch: str = ""


def changes(checkout: Checkout, base: str, below: Path, *, context: int | None = None) -> list[Changed]:
    """What differs from `base` (a commit or tree) in the folder `below`; new files count.

    With `context` there are patches, with that many lines around each change. Raises GitError.
    """
    new = checkout.untracked()
    shown = ("--raw", "--numstat", *(("-p", f"-U{context}") if context is not None else ()))
    with checkout.index_with([name for name in new if not name.endswith("/")]) as index:
        only = str(below.relative_to(checkout.top))
        output = checkout.git(*_COMPARE, *shown, base, "--", only, index=index)
    inner = "" if only == "." else f"{only}/"
    nested = [Changed(name, "added") for name in new if name.endswith("/") and name.startswith(inner)]
    return sorted([*_parse(output), *nested], key=lambda change: change.path)


def patch(checkout: Checkout, base: str, below: Path) -> str:
    """All of it as one text. Raises GitError."""
    return "".join(change.patch for change in changes(checkout, base, below, context=CONTEXT))


def _parse(output: bytes) -> Iterator[Changed]:
    """Read git-diff(1), raw output format and `--numstat -z`, a NUL byte, and patches in the same order."""
    head, _, patches = output.partition(b"\0\0")
    fields = head.removesuffix(b"\0").split(b"\0") if head else []
    letters: dict[bytes, str] = {}
    while fields and fields[0].startswith(b":"):
        described, name, *fields = fields
        letters[name] = described[-1:].decode()
    counts = {name: (added, gone) for added, gone, name in (field.split(b"\t", 2) for field in fields)}
    texts = _patches(patches)
    for name, letter in letters.items():
        if letter == "U":  # in the middle of a merge, and gone from the working tree
            continue
        text = "".join(next(texts, "") for _ in range(2 if letter == "T" else 1))
        added, gone = counts.get(name, (b"-", b"-"))
        path = name.decode("utf-8", "surrogateescape")
        yield Changed(path, _STATUS.get(letter, "modified"), _number(added), _number(gone), text)


def _number(count: bytes) -> int:
    return int(count) if count.isdigit() else 0


def _patches(text: bytes) -> Iterator[str]:
    """One for each file; one that became a link, or the other way round, has two. A line of a file never
    begins like the head of a patch: it has a sign before it."""
    lines = text.decode("utf-8", "replace").split("\n")
    heads = [number for number, line in enumerate(lines) if line.startswith("diff --git ")]
    for begin, end in zip(heads, [*heads, len(lines)][1:], strict=True):
        kept = [line for line in lines[begin:end] if not line.startswith("* Unmerged path ")]
        yield "\n".join(kept) + ("\n" if end < len(lines) else "")


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

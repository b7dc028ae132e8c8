"""What git says of a project's working tree: its branch, which files differ from a commit, and patches.

Git runs nothing that the repository names (`worktrees.git`).
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from django.utils.translation import gettext

from sessions.changes.checkout_git import GitError, Setting, excluding, git, listed, unfiltered, words
from sessions.changes.snapshots.objects import object_id
from sessions.changes.tracking import Tracker
from sessions.changes.undo.files import FileState, UnsafePath, read_file
from sessions.core.git import copy_index

__all__ = ["Checkout", "GitError"]

_LARGE = "4m"
"""Of a larger file git shows no lines (git-config(1), core.bigFileThreshold)."""


class Checkout:
    """`top` is where the working tree is, whatever the repository's configuration says (core.worktree).

    Every method blocks and may raise GitError.
    """

    def __init__(self, top: Path) -> None:
        self.top = top

    @cached_property
    def _settings(self) -> tuple[Setting, ...]:
        quiet = (("core.quotePath", "false"), ("core.bigFileThreshold", _LARGE))
        return (*quiet, *excluding(self.top), *unfiltered(self.top))

    def git(
        self,
        *arguments: str,
        stdin: bytes = b"",
        index: Path | None = None,
        seconds: float | None = None,
    ) -> bytes:
        """What git answers at the top, in so many seconds; with `index` as its index."""
        extra = {"GIT_WORK_TREE": str(self.top)} | ({"GIT_INDEX_FILE": str(index)} if index else {})
        return git(self.top, *arguments, stdin=stdin, settings=self._settings, extra=extra, seconds=seconds)

    def asked(self, *arguments: str, seconds: float | None = None) -> str:
        """A short answer; empty where git has none, or not in time."""
        try:
            return self.git(*arguments, seconds=seconds).decode("utf-8", "replace").strip()
        except GitError:
            return ""

    def untracked(self) -> list[str]:
        """Files that are neither tracked nor ignored; a repository in it is one name with a slash."""
        return listed(self.git("ls-files", "--others", "--exclude-standard", "-z"))

    @contextmanager
    def index_with(self, files: list[str]) -> Iterator[Path]:
        """A copy of the index in which `files` are tracked, so that a comparison shows them as new."""
        with tempfile.TemporaryDirectory(prefix="opencode-web-index-") as folder:
            copy = Path(folder) / "index"
            own = self.top / self.asked("rev-parse", "--git-path", "index")
            if own.is_file():
                copy_index(own, copy)
            empty = self.asked("hash-object", "--stdin")
            entries = b"".join(
                f"100644 {empty}\t".encode() + file.encode("utf-8", "surrogateescape") + b"\0"
                for file in files
            )
            self.git("update-index", "-z", "--index-info", stdin=entries, index=copy)
            yield copy


CONTEXT = 3
"""Lines around a change."""

_REMOTE = "refs/remotes/origin/"
_LOCAL = "refs/heads/"
_USUAL = ("main", "master")


def current(checkout: Checkout) -> str:
    """The branch that is checked out; empty for none."""
    return checkout.asked("symbolic-ref", "--quiet", "--short", "HEAD")


def default(checkout: Checkout) -> str:
    """What the remote `origin` says, else the usual name that there is; empty for none."""
    named = checkout.asked("symbolic-ref", "--quiet", f"{_REMOTE}HEAD")
    if named.startswith(_REMOTE):
        return named.removeprefix(_REMOTE)
    there = checkout.asked(
        "for-each-ref", "--format=%(refname)", *(f"{_LOCAL}{name}" for name in _USUAL)
    ).split()
    return next((name for name in _USUAL if f"{_LOCAL}{name}" in there), "")


def head(checkout: Checkout) -> str:
    """The last commit; the empty tree where there is none."""
    commit = checkout.asked("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    return commit or checkout.asked("hash-object", "-t", "tree", "--stdin")


def fork_point(checkout: Checkout) -> str:
    """Where this branch left the default one; empty where it is that one, or never did."""
    name = default(checkout)
    if not name or name == current(checkout):
        return ""
    return checkout.asked("merge-base", "HEAD", named(checkout, name))


def base(checkout: Checkout) -> str:
    """What a branch is compared with: where it left the default one, else where it left the one that it
    follows. Empty where it has neither."""
    return fork_point(checkout) or checkout.asked("merge-base", "HEAD", "@{upstream}")


def named(checkout: Checkout, name: str) -> str:
    """The commit of a branch, here or at the remote `origin`; empty for none."""
    asked = ("rev-parse", "--verify", "--quiet")
    return checkout.asked(*asked, f"{_LOCAL}{name}") or checkout.asked(*asked, f"{_REMOTE}{name}")


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


def states(checkout: Checkout, *, seconds: float | None = None) -> dict[str, str]:
    """What git says of the files that are not as they were committed: M(odified), A(dded), D(eleted),
    U(nmerged), T(ype changed) or `?` for what it does not track; a folder of such ends with a slash.
    git-status(1), porcelain format v1. Raises GitError.
    """
    asked = ("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=normal")
    output = checkout.git(*asked, "--ignore-submodules=all", seconds=seconds)
    found: dict[str, str] = {}
    for entry in listed(output):
        staged, working, path = entry[0], entry[1], entry[3:]
        unmerged = "U" in (staged, working) or staged + working in ("AA", "DD")
        found[path] = "U" if unmerged else staged if working == " " else working
    return found


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
        raise NotClean(words(error) or gettext("The patch does not apply.")) from error
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

"""Both contents of a file that git compares, read from git's own diff: so they are what `git add` would keep,
filters and line ends included."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sessions.changes.git.command import Git
from sessions.changes.snapshots.objects import object_id
from sessions.core.git import copy_index

COMPARE = (
    "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--no-relative", "--submodule=short",
    "--src-prefix=a/", "--dst-prefix=b/", "-U999999999",
)  # fmt: skip
"""With so many lines around a change a patch has all of both contents."""
_MODE = re.compile(rb"(?:(old|new|deleted file|new file) mode|index [0-9a-f]+\.\.[0-9a-f]+) ([0-7]{6})")


@dataclass(frozen=True, slots=True)
class Sides:
    """None for no file. `binary`: git shows no lines of it, and its contents are not known here."""

    before: bytes | None
    after: bytes | None
    mode_before: int | None
    mode_after: int | None
    binary: bool = False

    @property
    def seen(self) -> str:
        """Another where anything of it is."""
        contents = b"\0".join(b"-" if side is None else b"+" + side for side in (self.before, self.after))
        return object_id(b"%r %r\0" % (self.mode_before, self.mode_after) + contents)


def unstaged(git: Git, path: str) -> Sides | None:
    """From what is staged to the file as it is; None where they are the same. Raises GitError."""
    if found := read(git.read("diff", *COMPARE, "--", path)):
        return found
    if git.asked("ls-files", "--", path):
        return None
    with index_copy(git) as index:
        git.read("add", "--intent-to-add", "--force", "--", path, index=index)
        found = read(git.read("diff", *COMPARE, "--", path, index=index))
    return found and Sides(None, found.after, None, found.mode_after, found.binary)


def staged(git: Git, path: str) -> Sides | None:
    """From the last commit to what is staged. Raises GitError."""
    return read(git.read("diff", "--cached", *COMPARE, "--", path))


@contextmanager
def index_copy(git: Git) -> Iterator[Path]:
    """A copy of the index, to try something in."""
    with tempfile.TemporaryDirectory(prefix="opencode-web-index-") as folder:
        copy = Path(folder) / "index"
        own = git.top / git.asked("rev-parse", "--git-path", "index")
        if own.is_file():
            copy_index(own, copy)
        yield copy


def read(patch: bytes) -> Sides | None:
    """The contents in a patch of one file, which has two where it became a link. None for an empty one."""
    parts = re.split(rb"(?m)^(?=diff --git )", patch)[1:]
    if not parts:
        return None
    first, *rest = [_part(part) for part in parts]
    last = rest[-1] if rest else first
    return Sides(first.before, last.after, first.mode_before, last.mode_after, first.binary or last.binary)


def _part(patch: bytes) -> Sides:
    head, _, body = patch.partition(b"\n@@ ")
    lines = head.split(b"\n")
    old, new = _modes(lines)
    binary = any(line.startswith((b"Binary files ", b"GIT binary patch")) for line in lines)
    before, after = _contents(body.partition(b"\n")[2])
    return Sides(None if old is None else before, None if new is None else after, old, new, binary)


def _modes(lines: list[bytes]) -> tuple[int | None, int | None]:
    found = {match[1] or b"": int(match[2], 8) for line in lines if (match := _MODE.fullmatch(line))}
    if b"new file" in found:
        return None, found[b"new file"]
    if b"deleted file" in found:
        return found[b"deleted file"], None
    return found.get(b"old", found.get(b"")), found.get(b"new", found.get(b""))


def _contents(body: bytes) -> tuple[bytes, bytes]:
    """Of a hunk that is all of a file."""
    old: list[bytes] = []
    new: list[bytes] = []
    last: tuple[list[bytes], ...] = ()
    for line in body.removesuffix(b"\n").split(b"\n") if body else ():
        sign = line[:1]
        if sign == b"\\":
            for side in last:
                side[-1] = side[-1].removesuffix(b"\n")
            continue
        last = (old, new) if sign == b" " else (old,) if sign == b"-" else (new,)
        for side in last:
            side.append(line[1:] + b"\n")
    return b"".join(old), b"".join(new)

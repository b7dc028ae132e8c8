"""The two contents of a change and their diff, found once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Protocol

from sessions.diffs.hunks import FileDiff, hunks, is_binary
from sessions.diffs.kept import Kept
from sessions.diffs.whitespace import without_whitespace
from sessions.review.filediffs import LARGEST
from sessions.snapshots.objects import ObjectStore

_ROOM = 64 * 1024 * 1024  # bytes of contents whose diffs are kept; they take about three times as much


class FileChange(Protocol):
    """A file before and after: addresses (none for no file), modes, why contents are unknown."""

    @property
    def path(self) -> str: ...
    @property
    def before(self) -> str | None: ...
    @property
    def after(self) -> str | None: ...
    @property
    def mode_before(self) -> int | None: ...
    @property
    def mode_after(self) -> int | None: ...
    @property
    def skipped(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Compared:
    """None for no file. `large`: too much to be compared line by line."""

    before: bytes | None
    after: bytes | None
    diff: FileDiff
    large: bool = False


_kept: Kept[Compared] = Kept(_ROOM)


def compare(change: FileChange, objects: ObjectStore, *, whitespace: bool = True) -> Compared:
    """Blocks. Raises ObjectMissing. Addresses name contents, so an answer holds for ever. Without
    `whitespace` changes of nothing else are left out.
    """
    key = (objects, change.before, change.after, whitespace)
    return _kept.get(key, partial(_compared, change, objects, whitespace))


def _compared(change: FileChange, objects: ObjectStore, whitespace: bool) -> tuple[Compared, int]:
    if not whitespace:
        found = compare(change, objects)
        diff = without_whitespace(found.diff)
        return Compared(found.before, found.after, diff, found.large), _size(found) // 4
    before, after = (objects.get(oid) if oid else None for oid in (change.before, change.after))
    old, new = before or b"", after or b""
    if len(old) + len(new) > LARGEST and not (is_binary(old) or is_binary(new)):
        found = Compared(before, after, FileDiff(), large=True)
    else:
        found = Compared(before, after, hunks(old, new))
    return found, _size(found)


def _size(found: Compared) -> int:
    """What an answer weighs: its contents and, for their lines, a little more."""
    return len(found.before or b"") + len(found.after or b"") + 50 * len(found.diff.old) + 1000

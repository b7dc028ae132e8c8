"""The two contents of a change and their diff, found once."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from sessions.changes.diffs.hunks import FileDiff, Hunk, Rows, hunks, is_binary, stretches
from sessions.changes.diffs.lines import Span, changed_spans
from sessions.changes.review.filediffs import LARGEST
from sessions.changes.snapshots.objects import ObjectStore
from sessions.core.bounded import LRU

_ROOM = 16 * 1024 * 1024  # bytes of contents whose diffs are kept, and of what goes with them


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


_kept: LRU[Compared] = LRU(_ROOM)


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
    """Bytes of an answer: its contents, where their lines end, and about as much for each hunk and for the
    whole as Python takes."""
    diff = found.diff
    contents = len(found.before or b"") + len(found.after or b"")
    return contents + 8 * (len(diff.old) + len(diff.new)) + 1500 * len(diff.hunks) + 3000


def without_whitespace(diff: FileDiff) -> FileDiff:
    """The same hunks, with the same keys and spans, so that verdicts on them hold; rows that differ in white
    space or in their end only are context, with the text of the new side. Hunks with nothing else in them go
    to `hidden`."""
    shown: list[Hunk] = []
    hidden: list[Hunk] = []
    additions = deletions = 0
    for hunk in diff.hunks:
        left = [rest for span in hunk.spans for rest in _left(span, diff.old, diff.new)]
        if not left:
            hidden.append(hunk)
            continue
        start = hunk.begin[0] - 1
        rows = Rows(diff.old, diff.new, list(stretches(left, start, start + hunk.old_count)))
        shown.append(replace(hunk, rows=rows))
        additions += sum(d - c for _, _, c, d in left)
        deletions += sum(b - a for a, b, _, _ in left)
    return replace(diff, hunks=tuple(shown), hidden=tuple(hidden), additions=additions, deletions=deletions)


def only(diff: FileDiff, keys: Container[str]) -> FileDiff:
    """Some of the hunks; the others go to `elsewhere`."""
    shown = tuple(hunk for hunk in diff.hunks if hunk.key in keys)
    return replace(diff, hunks=shown, elsewhere=tuple(hunk for hunk in diff.hunks if hunk.key not in keys))


def _left(span: Span, old: Sequence[bytes], new: Sequence[bytes]) -> Iterator[Span]:
    """What of a span is more than white space."""
    a, b, c, d = span
    for start, stop, new_start, new_stop in changed_spans(_bare(old[a:b]), _bare(new[c:d])):
        yield a + start, a + stop, c + new_start, c + new_stop


def _bare(lines: Sequence[bytes]) -> list[bytes]:
    return [b"".join(line.split()) for line in lines]

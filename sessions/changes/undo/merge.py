"""Three-way merge of contents: take back one change where others have been made since.

In this process: an undo of fifty files starts no fifty processes. Where both sides changed lines that merely
touch, both are kept; git merge-file(1) calls that a conflict, which would refuse to undo an edit beside a
user's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sessions.changes.diffs.hunks import is_binary
from sessions.changes.diffs.lines import Span, changed_spans, split_lines

Lines = Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Conflict:
    """A stretch changed on both sides: `line` (from 1) in the file as it is now, and the three contents."""

    line: int
    current: bytes
    base: bytes
    other: bytes


@dataclass(frozen=True, slots=True)
class Merge:
    """`content` is None when there are conflicts; a binary file conflicts as a whole."""

    content: bytes | None
    conflicts: tuple[Conflict, ...] = ()


@dataclass(frozen=True, slots=True)
class Region:
    """Lines [a, b) of the base, changed by one side or by both: what is there in the current and in the other
    content, as ranges. `ours` and `theirs` are numbers of the spans in it; a side without any has not
    changed.
    """

    base: tuple[int, int]
    current: tuple[int, int]
    other: tuple[int, int]
    ours: tuple[int, ...]
    theirs: tuple[int, ...]


def three_way(base: bytes, current: bytes, other: bytes) -> Merge:
    """`current` with the change from `base` to `other` applied, line by line and byte for byte.

    To undo a change, `base` is the content after it and `other` the content before it.
    """
    if current == base:
        return Merge(other)
    if other in (base, current):
        return Merge(current)
    whole = (Conflict(1, current, base, other),)
    if any(is_binary(content) for content in (base, current, other)):
        return Merge(None, whole)
    sides = split_lines(base), split_lines(current), split_lines(other)
    pieces: list[bytes] = []
    conflicts: list[Conflict] = []
    at = 0
    for region in regions(changed_spans(sides[0], sides[1]), changed_spans(sides[0], sides[2])):
        pieces += sides[0][at : region.base[0]]
        at = region.base[1]
        settled = settle(region, *sides)
        if settled is None:
            conflicts.append(_conflict(region, *sides))
        else:
            pieces += settled
    pieces += sides[0][at:]
    if conflicts:
        return Merge(None, tuple(conflicts))
    return Merge(b"".join(pieces)) if _sound(pieces) else Merge(None, whole)


def regions(ours: Sequence[Span], theirs: Sequence[Span]) -> Iterator[Region]:
    """The stretches of the base that either side changed, in order. Spans are from the base to a side; those
    that overlap share a region, and so do insertions at the same place.
    """
    i = j = 0
    shift_ours = shift_theirs = 0
    while i < len(ours) or j < len(theirs):
        begin, end = min(side[k][:2] for side, k in ((ours, i), (theirs, j)) if k < len(side))
        first_i, first_j = i, j
        grown = True
        while grown:
            grown = False
            while i < len(ours) and _within(ours[i], begin, end, i > first_i or j > first_j):
                end, i, grown = max(end, ours[i][1]), i + 1, True
            while j < len(theirs) and _within(theirs[j], begin, end, i > first_i or j > first_j):
                end, j, grown = max(end, theirs[j][1]), j + 1, True
        before_ours, before_theirs = shift_ours, shift_theirs
        shift_ours += sum((d - c) - (b - a) for a, b, c, d in ours[first_i:i])
        shift_theirs += sum((d - c) - (b - a) for a, b, c, d in theirs[first_j:j])
        yield Region(
            (begin, end),
            (begin + before_ours, end + shift_ours),
            (begin + before_theirs, end + shift_theirs),
            tuple(range(first_i, i)),
            tuple(range(first_j, j)),
        )


def settle(region: Region, base: Lines, current: Lines, other: Lines) -> Lines | None:
    """The lines of a region that only one side changed, or both alike; None for a conflict."""
    ours, theirs = current[slice(*region.current)], other[slice(*region.other)]
    if not region.theirs or ours == theirs:
        return ours
    return theirs if not region.ours else None


def _within(span: Span, begin: int, end: int, begun: bool) -> bool:
    """Whether a span belongs to the region [begin, end); one that merely touches it does not."""
    start, stop = span[:2]
    if not begun:
        return (start, stop) == (begin, end)
    if start == stop == begin == end:
        return True
    return start < end and stop > begin


def _conflict(region: Region, base: Lines, current: Lines, other: Lines) -> Conflict:
    parts = (current[slice(*region.current)], base[slice(*region.base)], other[slice(*region.other)])
    return Conflict(region.current[0] + 1, *(b"".join(part) for part in parts))


def _sound(pieces: Sequence[bytes]) -> bool:
    """Whether only the last line lacks its end: the last line of a side must not run into the next."""
    return all(piece.endswith(b"\n") for piece in pieces[:-1])

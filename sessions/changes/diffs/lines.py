"""Which lines differ: one engine for patches, counts and the page.

Common head and tail are set aside, lines that occur once in both sides anchor the rest (patience diff, Bram
Cohen), and difflib settles what lies between. All in this process: 500 small files cost no 500 processes, and
100,000 lines are no quadratic work.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate
from typing import AnyStr, overload

_LEAF = 60_000  # lines before x lines after: as much as difflib may be given
_DEPTH = 40  # of anchors between anchors; only a text made to be deep gets there
_WINDOWS = (1, 4, 16)  # lines that have to be unique together to be an anchor; the wide for dull texts

Span = tuple[int, int, int, int]
"""A stretch that differs: lines [a, b) of before became lines [c, d) of after; counted from 0."""


def split_lines(text: AnyStr) -> list[AnyStr]:
    """Lines with their end; only a line feed ends a line (str.splitlines knows ten more separators)."""
    end = "\n" if isinstance(text, str) else b"\n"
    lines: list[AnyStr] = text.split(end)
    last = lines.pop()
    return [line + end for line in lines] + ([last] if last else [])


class Lines(Sequence[bytes]):
    """The lines of a content as `split_lines` gives them, to be kept for long: the content itself and where
    each ends, in place of an object a line."""

    def __init__(self, content: bytes, lines: Sequence[bytes]) -> None:
        self._content = content
        self._ends = array("Q", accumulate(map(len, lines), initial=0))

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> list[bytes]: ...
    def __getitem__(self, index: int | slice) -> bytes | list[bytes]:
        if isinstance(index, slice):
            return [self._line(at) for at in range(len(self))[index]]
        return self._line(range(len(self))[index])

    def _line(self, at: int) -> bytes:
        return self._content[self._ends[at] : self._ends[at + 1]]


def changed_spans(before: Sequence[AnyStr], after: Sequence[AnyStr]) -> list[Span]:
    """The stretches that differ, in order, neither touching nor overlapping."""
    merged: list[Span] = []
    for span in _diff(before, after, 0, 0, 0):
        if merged and merged[-1][1] == span[0] and merged[-1][3] == span[2]:
            span = (merged[-1][0], span[1], merged.pop()[2], span[3])
        merged.append(span)
    return merged


def _diff(
    before: Sequence[AnyStr], after: Sequence[AnyStr], row: int, column: int, depth: int
) -> Iterator[Span]:
    head = _common(before, after)
    before, after = before[head:], after[head:]
    tail = _common(before[::-1], after[::-1])
    before, after = before[: len(before) - tail], after[: len(after) - tail]
    row, column = row + head, column + head
    if not before or not after:
        if before or after:
            yield row, row + len(before), column, column + len(after)
        return
    anchors: list[tuple[int, int]] = _anchors(before, after) if depth < _DEPTH else []
    if not anchors:
        yield from _settle(before, after, row, column)
        return
    i = j = 0
    for anchor_i, anchor_j in [*anchors, (len(before), len(after))]:
        yield from _diff(before[i:anchor_i], after[j:anchor_j], row + i, column + j, depth + 1)
        i, j = anchor_i + 1, anchor_j + 1


def _settle(before: Sequence[AnyStr], after: Sequence[AnyStr], row: int, column: int) -> Iterator[Span]:
    if len(before) * len(after) > _LEAF:
        yield row, row + len(before), column, column + len(after)
        return
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            yield row + i1, row + i2, column + j1, column + j2


def _common(before: Sequence[AnyStr], after: Sequence[AnyStr]) -> int:
    count = 0
    for one, other in zip(before, after, strict=False):
        if one != other:
            break
        count += 1
    return count


def _anchors(before: Sequence[AnyStr], after: Sequence[AnyStr]) -> list[tuple[int, int]]:
    """Pairs of lines that surely belong together, rising on both sides."""
    if set(before).isdisjoint(after):
        return []
    widths = _WINDOWS if len(before) * len(after) > _LEAF else _WINDOWS[:1]
    for width in widths:
        if pairs := _unique_pairs(_windows(before, width), _windows(after, width)):
            return _longest_rising(pairs)
    return []


def _windows(lines: Sequence[AnyStr], width: int) -> Sequence[object]:
    return lines if width == 1 else list(zip(*(lines[offset:] for offset in range(width)), strict=False))


def _unique_pairs(before: Sequence[object], after: Sequence[object]) -> list[tuple[int, int]]:
    once_before, once_after = Counter(before), Counter(after)
    place = {item: j for j, item in enumerate(after) if once_after[item] == 1}
    return [(i, place[item]) for i, item in enumerate(before) if once_before[item] == 1 and item in place]


def _longest_rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest chain of pairs in which both numbers rise (patience sorting)."""
    tops: list[int] = []
    ends: list[int] = []
    previous = [-1] * len(pairs)
    for index, (_, j) in enumerate(pairs):
        pile = bisect_left(tops, j)
        previous[index] = ends[pile - 1] if pile else -1
        tops[pile : pile + 1] = [j]
        ends[pile : pile + 1] = [index]
    chain = []
    index = ends[-1]
    while index >= 0:
        chain.append(pairs[index])
        index = previous[index]
    return chain[::-1]

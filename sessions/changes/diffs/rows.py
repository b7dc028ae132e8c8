"""The lines of a diff as rows, made only when they are looked at: a hunk may have 100,000 of them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import accumulate, zip_longest
from typing import Literal, overload

Pairs = tuple[tuple[int, int], ...]
"""(deleted line, added line), counted from 0 in the block; both numbers rise."""

SMALL = 1600
"""Deleted lines x added lines up to which each is compared with each."""
_TALLEST = 100  # lines of either side of such a block
_ALIKE = 0.5  # share of common words from which two lines belong together
_LONGEST = 500  # characters of a line that are looked at
_WORD = re.compile(rb"\w+|[^\w\s]")


def is_small(deleted: int, added: int) -> bool:
    """Whether the lines of a block of this size are compared with each other."""
    return 0 < deleted * added <= SMALL and max(deleted, added) <= _TALLEST


def pairs(deleted: Sequence[bytes], added: Sequence[bytes]) -> Pairs:
    """The pairs of a block. A line that took the place of a single one is its pair, like it or not."""
    if not is_small(len(deleted), len(added)):
        return ()
    if len(deleted) == len(added) == 1:
        return ((0, 0),)
    olds, news = [_words(line) for line in deleted], [_words(line) for line in added]
    return _best([[_likeness(old, new) for new in news] for old in olds])


def _words(line: bytes) -> Counter[bytes]:
    return Counter(_WORD.findall(line[:_LONGEST]))


def _likeness(old: Counter[bytes], new: Counter[bytes]) -> float:
    """Words in common as a share of both lines' (Dice); 0 for lines that do not belong together."""
    total = old.total() + new.total()
    if not total:
        return 1.0  # both are white space
    few, many = (old, new) if len(old) <= len(new) else (new, old)
    share = 2 * sum(min(count, many[word]) for word, count in few.items() if word in many) / total
    return share if share >= _ALIKE else 0.0


def _best(likeness: list[list[float]]) -> Pairs:
    """The pairs in rising order whose likeness comes to most (the longest common subsequence, weighted)."""
    width = len(likeness[0])
    best = [[0.0] * (width + 1)]
    for row in likeness:
        above, here = best[-1], [0.0]
        for j, share in enumerate(row):
            here.append(max(above[j + 1], here[j], above[j] + share if share else 0.0))
        best.append(here)
    found: list[tuple[int, int]] = []
    i, j = len(likeness), width
    while i and j:
        if best[i][j] == best[i - 1][j]:
            i -= 1
        elif best[i][j] == best[i][j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            found.append((i, j))
    return tuple(found[::-1])


Marks = tuple[tuple[int, int], ...]
"""Stretches of characters, [start, end)."""

_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_MARKED = 500  # characters of a line; longer ones get no marks
_SAME = 0.4  # below this share of common words the whole line is new, and marks would be noise


@lru_cache(maxsize=2048)  # each line of a pair asks for its own marks
def word_marks(before: str, after: str) -> tuple[Marks, Marks]:
    """What to mark in `before` and in `after`; nothing where the lines are too long or too unlike."""
    if max(len(before), len(after)) >= _MARKED:
        return (), ()
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if matcher.quick_ratio() < _SAME or matcher.ratio() < _SAME:
        return (), ()
    changed = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    return (
        _marks(old, [(i1, i2) for _, i1, i2, _, _ in changed]),
        _marks(new, [(j1, j2) for _, _, _, j1, j2 in changed]),
    )


def _marks(tokens: list[str], spans: list[tuple[int, int]]) -> Marks:
    starts = [0]
    for token in tokens:
        starts.append(starts[-1] + len(token))
    return tuple((starts[first], starts[last]) for first, last in spans if first < last)


Sides = tuple["Row | None", "Row | None"]
"""What stands side by side."""
_Counterpart = Callable[[int], "int | None"]


@dataclass(frozen=True, slots=True)
class Row:
    """One line. `old` and `new` are line numbers from 1; `text` is without line feed, a carriage return kept.

    `marks` are the characters of `text` that differ from the line's counterpart.
    """

    kind: Literal["context", "add", "del"]
    old: int | None
    new: int | None
    text: str
    marks: Marks = ()
    no_newline: bool = False


@dataclass(frozen=True, slots=True)
class Stretch:
    """Lines [a, b) of before and [c, d) of after, counted from 0: equal ones, or a block of changes."""

    a: int
    b: int
    c: int
    d: int
    changed: bool

    @property
    def rows(self) -> int:
        """Rows one under the other."""
        return (self.b - self.a) + (self.d - self.c) if self.changed else self.d - self.c

    @property
    def slots(self) -> int:
        """Rows side by side; a block that is aligned by likeness may take a few more."""
        return max(self.b - self.a, self.d - self.c)

    @property
    def whole(self) -> bool:
        """Whether its rows side by side are aligned, and so are made all together."""
        return self.changed and is_small(self.b - self.a, self.d - self.c)


class Rows(Sequence[Row]):
    """The rows of a hunk; `old` and `new` are lines with their ends, `base` is added to their numbers."""

    def __init__(
        self,
        old: Sequence[bytes],
        new: Sequence[bytes],
        stretches: Sequence[Stretch],
        base: tuple[int, int] = (0, 0),
    ) -> None:
        self._old, self._new, self._base = old, new, base
        self.stretches = tuple(stretches)
        self._ends = list(accumulate(stretch.rows for stretch in stretches))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, index: int | slice) -> Row | tuple[Row, ...]:
        """Rows by number. A slice costs what it is long, wherever it begins; its step is 1."""
        if isinstance(index, slice):
            start, stop, _ = index.indices(len(self))
            return tuple(self._range(start, stop))
        at = range(len(self))[index]
        return next(self._range(at, at + 1))

    def __iter__(self) -> Iterator[Row]:
        return self._range(0, len(self))

    @property
    def slots(self) -> int:
        """How many rows there are side by side, see `Stretch.slots`."""
        return sum(stretch.slots for stretch in self.stretches)

    def sides(self, start: int = 0, stop: int | None = None) -> Iterator[Sides]:
        """Rows side by side, like beside like, by slot; an aligned block belongs to its first slot."""
        stop = self.slots if stop is None else stop
        begin = 0
        for stretch in self.stretches:
            if stretch.whole:
                if start <= begin < stop:
                    yield from self._aligned(stretch)
            else:
                yield from self._straight(stretch, max(start - begin, 0), max(stop - begin, 0))
            begin += stretch.slots
            if begin >= stop:
                break

    def _range(self, start: int, stop: int) -> Iterator[Row]:
        at = bisect_right(self._ends, start)
        while start < stop:
            begin = self._ends[at - 1] if at else 0
            end = min(stop, self._ends[at])
            yield from self._within(self.stretches[at], start - begin, end - begin)
            start, at = end, at + 1

    def _within(self, stretch: Stretch, start: int, stop: int) -> Iterator[Row]:
        if not stretch.changed:
            yield from (self._context(stretch, offset) for offset in range(start, stop))
            return
        deleted = stretch.b - stretch.a
        new_of, old_of = self._counterparts(stretch)
        for offset in range(start, min(stop, deleted)):
            yield self._deleted(stretch, offset, new_of(offset))
        for offset in range(max(start - deleted, 0), stop - deleted):
            yield self._added(stretch, offset, old_of(offset))

    def _straight(self, stretch: Stretch, start: int, stop: int) -> Iterator[Sides]:
        """Slots of equal lines or of a large block, line beside line."""
        stop = min(stop, stretch.slots)
        if not stretch.changed:
            rows = (self._context(stretch, offset) for offset in range(start, stop))
            yield from ((row, row) for row in rows)
            return
        deleted, added = stretch.b - stretch.a, stretch.d - stretch.c
        new_of, old_of = self._counterparts(stretch)
        for offset in range(start, stop):
            yield (
                self._deleted(stretch, offset, new_of(offset)) if offset < deleted else None,
                self._added(stretch, offset, old_of(offset)) if offset < added else None,
            )

    def _aligned(self, stretch: Stretch) -> Iterator[Sides]:
        i = j = 0
        deleted, added = stretch.b - stretch.a, stretch.d - stretch.c
        for row, column in (*self._pairs(stretch), (deleted, added)):
            yield from zip_longest(
                (self._deleted(stretch, offset, None) for offset in range(i, row)),
                (self._added(stretch, offset, None) for offset in range(j, column)),
            )
            if row < deleted:
                yield self._deleted(stretch, row, column), self._added(stretch, column, row)
            i, j = row + 1, column + 1

    def _pairs(self, stretch: Stretch) -> Pairs:
        return pairs(self._old[stretch.a : stretch.b], self._new[stretch.c : stretch.d])

    def _counterparts(self, stretch: Stretch) -> tuple[_Counterpart, _Counterpart]:
        """Added line by deleted line, and the other way round. In a large block each line stands for itself
        if both sides are equally long: that is what a replacement in every line looks like."""
        if not stretch.whole:
            even = stretch.b - stretch.a == stretch.d - stretch.c
            return (_same, _same) if even else (_none, _none)
        found = self._pairs(stretch)
        return dict(found).get, {new: old for old, new in found}.get

    def _context(self, stretch: Stretch, offset: int) -> Row:
        text, no_newline = _text(self._new[stretch.c + offset])
        old, new = self._base[0] + stretch.a + offset + 1, self._base[1] + stretch.c + offset + 1
        return Row("context", old, new, text, (), no_newline)

    def _deleted(self, stretch: Stretch, offset: int, counterpart: int | None) -> Row:
        text, no_newline = _text(self._old[stretch.a + offset])
        marks: Marks = ()
        if counterpart is not None:
            marks = word_marks(text, _text(self._new[stretch.c + counterpart])[0])[0]
        return Row("del", self._base[0] + stretch.a + offset + 1, None, text, marks, no_newline)

    def _added(self, stretch: Stretch, offset: int, counterpart: int | None) -> Row:
        text, no_newline = _text(self._new[stretch.c + offset])
        marks: Marks = ()
        if counterpart is not None:
            marks = word_marks(_text(self._old[stretch.a + counterpart])[0], text)[1]
        return Row("add", None, self._base[1] + stretch.c + offset + 1, text, marks, no_newline)


def _text(line: bytes) -> tuple[str, bool]:
    return line.removesuffix(b"\n").decode("utf-8", "replace"), not line.endswith(b"\n")


def _same(offset: int) -> int | None:
    return offset


def _none(offset: int) -> int | None:
    return None

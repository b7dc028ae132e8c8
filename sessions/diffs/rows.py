"""The lines of a diff as rows, made only when they are looked at: a hunk may have 100,000 of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, zip_longest
from typing import Literal, overload

from sessions.diffs.pairs import Pairs, is_small, pairs
from sessions.diffs.words import Marks, word_marks

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

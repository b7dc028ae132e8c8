"""The diff of one file: its hunks, with rows for the page."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import accumulate, groupby, zip_longest
from typing import Any, Literal, overload

from sessions.changes.diffs.lines import Lines, Span, changed_spans, group_spans, hunk_range, split_lines

# The lines of a diff as rows, made only when they are looked at: a hunk may have 100,000 of them.

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


# The diff of a file, as hunks that are known by their content.

CONTEXT = 3
"""Equal lines around a hunk; hunks nearer than twice that are one."""

_BINARY_LOOK = 8000  # bytes, as git does: a NUL among the first makes the file binary


@dataclass(frozen=True, slots=True)
class Hunk:
    """Line numbers from 1 (0 for a side without lines) and numbers of lines, as in `@@ -a,b +c,d @@`.

    `key` names the hunk by its content, wherever its lines are, so a verdict on it holds until the content
    changes. `spans` are the changed lines in it, counted from 0. A hunk read from a patch has neither.
    """

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    rows: Rows
    key: str = ""
    spans: tuple[Span, ...] = ()

    @property
    def begin(self) -> tuple[int, int]:
        """The first line of either side, from 1, also where a side has none."""
        return _first(self.old_start, self.old_count), _first(self.new_start, self.new_count)

    @property
    def end(self) -> tuple[int, int]:
        """The first line of either side after it."""
        old, new = self.begin
        return old + self.old_count, new + self.new_count


@dataclass(frozen=True, slots=True)
class FileDiff:
    """`binary` has no hunks; `truncated` is of a patch that was cut (the counts are of what is there).

    `old` and `new` are all lines of both sides, empty where only a patch is known. `mixed_ends`: some changed
    lines end with a carriage return, some do not. `hidden` are the hunks left out because they change
    nothing but white space, `elsewhere` those that are shown at another place
    (`sessions.changes.review.comparing`).
    """

    hunks: tuple[Hunk, ...] = ()
    additions: int = 0
    deletions: int = 0
    binary: bool = False
    truncated: bool = False
    mixed_ends: bool = False
    hidden: tuple[Hunk, ...] = ()
    elsewhere: tuple[Hunk, ...] = ()
    old: Sequence[bytes] = field(default=(), repr=False, compare=False)
    new: Sequence[bytes] = field(default=(), repr=False, compare=False)


def is_binary(content: bytes) -> bool:
    return b"\0" in content[:_BINARY_LOOK]


def hunks(before: bytes, after: bytes, context: int = CONTEXT) -> FileDiff:
    """Compare two contents byte for byte; what is no UTF-8 is replaced in the rows' text only."""
    if is_binary(before) or is_binary(after):
        return FileDiff(binary=before != after)
    old, new = split_lines(before), split_lines(after)
    spans = changed_spans(old, new)
    kept = Lines(before, old), Lines(after, new)
    made: list[Hunk] = []
    seen: Counter[str] = Counter()
    for group in group_spans(spans, context):
        start, end, new_start, new_end = hunk_range(group, context, len(old), len(new))
        rows = Rows(*kept, list(stretches(group, start, end)))
        key = hunk_key(old[start:end], new[new_start:new_end], seen)
        made.append(Hunk(*_numbers(start, end), *_numbers(new_start, new_end), rows, key, tuple(group)))
    additions, deletions = sum(d - c for _, _, c, d in spans), sum(b - a for a, b, _, _ in spans)
    mixed = mixed_ends(line for a, b, c, d in spans for side in (old[a:b], new[c:d]) for line in side)
    return FileDiff(tuple(made), additions, deletions, mixed_ends=mixed, old=kept[0], new=kept[1])


def hunk_key(old: Sequence[bytes], new: Sequence[bytes], seen: Counter[str]) -> str:
    """A name for a hunk out of its lines, context included; `seen` counts equal ones of the same file."""
    digest = hashlib.sha256()
    for side in (old, new):
        digest.update(b"%d\0" % len(side))
        digest.update(b"".join(side))
    content = digest.hexdigest()[:20]
    seen[content] += 1
    return content if seen[content] == 1 else f"{content}.{seen[content]}"


def stretches(group: Sequence[Span], start: int, end: int) -> Iterator[Stretch]:
    """A hunk's lines in order: `group` are its changes, [start, end) its lines in before."""
    at, shift = start, (group[0][2] - group[0][0]) if group else 0
    for a, b, c, d in group:
        if at < a:
            yield Stretch(at, a, at + shift, c, changed=False)
        yield Stretch(a, b, c, d, changed=True)
        at, shift = b, d - b
    if at < end:
        yield Stretch(at, end, at + shift, end + shift, changed=False)


def mixed_ends(lines: Iterator[bytes]) -> bool:
    """Whether some of the lines end with CR LF and some with LF alone."""
    seen: set[bool] = set()
    for line in lines:
        if line.endswith(b"\n"):
            seen.add(line.endswith(b"\r\n"))
            if len(seen) > 1:
                return True
    return False


def _first(start: int, count: int) -> int:
    return start if count else start + 1


def _numbers(start: int, end: int) -> tuple[int, int]:
    return (start + 1 if end > start else start), end - start


@dataclass(frozen=True, slots=True)
class Piece:
    """A hunk without its rows: the `key` it is known by and its changed lines, from before to after."""

    key: str
    spans: tuple[Span, ...]

    def noted(self, path: str, old: Sequence[bytes], new: Sequence[bytes], most: int) -> dict[str, Any]:
        """As an operation keeps it to tell the agent of it: where, and at most so many characters of both
        sides."""
        (a, _, c, _), (_, b, _, d) = self.spans[0], self.spans[-1]
        removed, added = (b"".join(side).decode("utf-8", "replace")[:most] for side in (old[a:b], new[c:d]))
        return {"path": path, "key": self.key, "line": c + 1, "removed": removed, "added": added}


def pieces(old: Sequence[bytes], new: Sequence[bytes]) -> list[Piece]:
    """The hunks of two contents, given as lines; the same as `diffs.hunks.hunks` shows them."""
    seen: Counter[str] = Counter()
    made = []
    for group in group_spans(changed_spans(old, new), CONTEXT):
        start, end, new_start, new_end = hunk_range(group, CONTEXT, len(old), len(new))
        made.append(Piece(hunk_key(old[start:end], new[new_start:new_end], seen), tuple(group)))
    return made


def without(before: bytes, after: bytes, keys: Collection[str]) -> bytes:
    """`after` with the hunks named by `keys` as they were in `before`; unknown keys change nothing."""
    old, new = split_lines(before), split_lines(after)
    kept: list[bytes] = []
    at = 0
    for piece in pieces(old, new):
        if piece.key in keys:
            for start, stop, new_start, new_stop in piece.spans:
                kept += new[at:new_start] + old[start:stop]
                at = new_stop
    return b"".join(kept + new[at:])


# A unified patch read back into rows: a proposal that comes as text is shown as any other diff.

_NO_NEWLINE = "\\ No newline"
_HEAD = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")

_Line = tuple[str, bytes]
"""Sign (`-`, `+`, or a space) and the line with its end."""


def parse(patch: str) -> FileDiff:
    """The hunks of a patch of one file. Lines that are no part of a hunk are passed over; a patch that was
    cut short (`unified`, agents) is `truncated`."""
    made: list[Hunk] = []
    changed: list[_Line] = []
    lines = patch.split("\n")
    at = 0
    while at < len(lines):
        head = _HEAD.match(lines[at])
        at += 1
        if not head:
            continue
        old, old_count, new, new_count = (int(field or 1) for field in head.groups())
        begin = at
        while at < len(lines) and lines[at][:1] in (" ", "+", "-", "\\"):
            at += 1
        read = _read(lines[begin:at])
        base = (old - 1 if old_count else old, new - 1 if new_count else new)
        made.append(Hunk(old, old_count, new, new_count, _rows(read, base)))
        changed += [line for line in read if line[0] != " "]
    counts = (sum(sign == "+" for sign, _ in changed), sum(sign == "-" for sign, _ in changed))
    cut = any(line.startswith("\\ ") and "not shown" in line for line in lines[-3:])
    mixed = mixed_ends(line for _, line in changed)
    return FileDiff(tuple(made), *counts, truncated=cut, mixed_ends=mixed)


def _read(lines: Sequence[str]) -> list[_Line]:
    """The lines of one hunk."""
    found: list[_Line] = []
    for line in lines:
        if line[:1] != "\\":
            found.append((line[:1], line[1:].encode("utf-8", "replace") + b"\n"))
        elif found and line.startswith(_NO_NEWLINE):
            found[-1] = (found[-1][0], found[-1][1].removesuffix(b"\n"))
    return found


def _rows(lines: Sequence[_Line], base: tuple[int, int]) -> Rows:
    old = [line for sign, line in lines if sign != "+"]
    new = [line for sign, line in lines if sign != "-"]
    stretches: list[Stretch] = []
    i = j = 0
    for changed, run in groupby(lines, lambda line: line[0] != " "):
        signs = [sign for sign, _ in run]
        deleted, added = signs.count("-") if changed else len(signs), len(signs) - signs.count("-")
        stretches.append(Stretch(i, i + deleted, j, j + added, changed))
        i, j = i + deleted, j + added
    return Rows(old, new, stretches, base)

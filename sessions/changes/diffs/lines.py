"""Which lines differ: one engine for patches, counts and the page.

Common head and tail are set aside, lines that occur once in both sides anchor the rest (patience diff, Bram
Cohen), and difflib settles what lies between. All in this process: 500 small files cost no 500 processes, and
100,000 lines are no quadratic work.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate
from typing import AnyStr, Literal, overload

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


# A unified patch of two texts, as `git apply` takes it, and its figures.

Status = Literal["added", "deleted", "modified"]

_CONTEXT = 3
_ODD = re.compile(r'[\x00-\x1f"\\\x7f]')
_NO_NEWLINE = "\\ No newline at end of file\n"


def diff_text(before: str | None, after: str | None, path: str) -> str:
    """The patch that makes `before` into `after` (None: there is no such file); empty when they are equal."""
    if before == after:
        return ""
    old, new = split_lines(before or ""), split_lines(after or "")
    head = [
        f"--- {_name('a', path) if before is not None else '/dev/null'}\n",
        f"+++ {_name('b', path) if after is not None else '/dev/null'}\n",
    ]
    for group in group_spans(changed_spans(old, new), _CONTEXT):
        head += _hunk(group, old, new)
    return "".join(head)


def count(before: AnyStr, after: AnyStr) -> tuple[int, int]:
    """Lines added and lines deleted."""
    spans = changed_spans(split_lines(before), split_lines(after))
    return sum(d - c for _, _, c, d in spans), sum(b - a for a, b, _, _ in spans)


def status(before: str | bytes | None, after: str | bytes | None) -> Status:
    """What became of the file; None stands for no file."""
    if before is None:
        return "added"
    return "deleted" if after is None else "modified"


def group_spans(spans: Sequence[Span], context: int) -> list[list[Span]]:
    """Spans that share a hunk: those with no more than twice `context` equal lines between them."""
    groups: list[list[Span]] = []
    for span in spans:
        if groups and span[0] - groups[-1][-1][1] <= 2 * context:
            groups[-1].append(span)
        else:
            groups.append([span])
    return groups


def hunk_range(group: Sequence[Span], context: int, old: int, new: int) -> Span:
    """The lines a hunk covers, context included; `old` and `new` are the numbers of lines."""
    first, last = group[0], group[-1]
    lead = min(context, first[0])
    trail = min(context, old - last[1], new - last[3])
    return first[0] - lead, last[1] + trail, first[2] - lead, last[3] + trail


def _hunk(group: Sequence[Span], old: Sequence[str], new: Sequence[str]) -> list[str]:
    start, end, new_start, new_end = hunk_range(group, _CONTEXT, len(old), len(new))
    out = [f"@@ -{_range(start, end)} +{_range(new_start, new_end)} @@\n"]
    at = start
    for a, b, c, d in group:
        out += [_line(" ", line) for line in old[at:a]]
        out += [_line("-", line) for line in old[a:b]]
        out += [_line("+", line) for line in new[c:d]]
        at = b
    return out + [_line(" ", line) for line in old[at:end]]


def _line(sign: str, line: str) -> str:
    return f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}\n{_NO_NEWLINE}"


def _range(start: int, end: int) -> str:
    return f"{start + 1 if end > start else start},{end - start}"


def _name(side: str, path: str) -> str:
    """A path as git writes it: quoted where a character would break the line (core.quotePath)."""
    name = f"{side}/{path}"
    if not _ODD.search(name):
        return name if " " not in name else f"{name}\t"
    return '"' + _ODD.sub(lambda odd: _escape(odd.group()), name) + '"'


def _escape(character: str) -> str:
    return f"\\{character}" if character in '"\\' else f"\\{ord(character):03o}"

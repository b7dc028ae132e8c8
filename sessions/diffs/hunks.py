"""The diff of one file as typed rows for the page, unified or split."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

from sessions.diffs.lines import Span, changed_spans, split_lines
from sessions.diffs.unified import group_spans, hunk_range
from sessions.diffs.words import Marks, word_marks

ROW_LIMIT = 20_000
"""Rows of one file; hunks after that are counted but not made."""

_BINARY_LOOK = 8000  # bytes, as git does: a NUL among the first makes the file binary


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
class Hunk:
    """Line numbers from 1 (0 for a side without lines) and numbers of lines, as in `@@ -a,b +c,d @@`.

    `key` names the hunk by its content, wherever its lines are, so a verdict on it holds until the content
    changes. `spans` are the changed lines in it, counted from 0. A hunk read from a patch has neither.
    """

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    rows: tuple[Row, ...]
    key: str = ""
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class FileDiff:
    """`binary` has no hunks; `truncated` lacks the hunks beyond ROW_LIMIT (the counts are whole)."""

    hunks: tuple[Hunk, ...] = ()
    additions: int = 0
    deletions: int = 0
    binary: bool = False
    truncated: bool = False


def is_binary(content: bytes) -> bool:
    return b"\0" in content[:_BINARY_LOOK]


def hunks(before: bytes, after: bytes, context: int = 3) -> FileDiff:
    """Compare two contents byte for byte; what is no UTF-8 is replaced in the rows' text only."""
    if is_binary(before) or is_binary(after):
        return FileDiff(binary=before != after)
    old, new = split_lines(before), split_lines(after)
    spans = changed_spans(old, new)
    made: list[Hunk] = []
    seen: Counter[str] = Counter()
    room = ROW_LIMIT
    truncated = False
    for group in group_spans(spans, context):
        start, end, new_start, new_end = hunk_range(group, context, len(old), len(new))
        room -= (end - start) + (new_end - new_start)
        if room < 0:
            truncated = True
            break
        rows = tuple(_rows(group, start, end, old, new))
        key = hunk_key(old[start:end], new[new_start:new_end], seen)
        made.append(Hunk(*_numbers(start, end), *_numbers(new_start, new_end), rows, key, tuple(group)))
    additions, deletions = sum(d - c for _, _, c, d in spans), sum(b - a for a, b, _, _ in spans)
    return FileDiff(tuple(made), additions, deletions, truncated=truncated)


def hunk_key(old: Sequence[bytes], new: Sequence[bytes], seen: Counter[str]) -> str:
    """A name for a hunk out of its lines, context included; `seen` counts equal ones of the same file."""
    digest = hashlib.sha256()
    for side in (old, new):
        digest.update(b"%d\0" % len(side))
        digest.update(b"".join(side))
    content = digest.hexdigest()[:20]
    seen[content] += 1
    return content if seen[content] == 1 else f"{content}.{seen[content]}"


def split_rows(hunk: Hunk) -> list[tuple[Row | None, Row | None]]:
    """Rows side by side: a deleted line stands beside the added one that took its place."""
    pairs: list[tuple[Row | None, Row | None]] = []
    deleted: list[Row] = []
    added: list[Row] = []
    for row in hunk.rows:
        if row.kind == "context":
            pairs += [*zip_longest(deleted, added), (row, row)]
            deleted, added = [], []
        else:
            (deleted if row.kind == "del" else added).append(row)
    return [*pairs, *zip_longest(deleted, added)]


def _rows(
    group: Sequence[Span], start: int, end: int, old: Sequence[bytes], new: Sequence[bytes]
) -> Iterator[Row]:
    at, shift = start, group[0][2] - group[0][0]
    for a, b, c, d in group:
        yield from _context(at, a, shift, old)
        yield from _changed(old[a:b], new[c:d], a, c)
        at, shift = b, d - b
    yield from _context(at, end, shift, old)


def _context(start: int, end: int, shift: int, old: Sequence[bytes]) -> Iterator[Row]:
    for number in range(start, end):
        text, no_newline = _text(old[number])
        yield Row("context", number + 1, number + shift + 1, text, (), no_newline)


def _changed(old: Sequence[bytes], new: Sequence[bytes], row: int, column: int) -> Iterator[Row]:
    deleted, added = [_text(line) for line in old], [_text(line) for line in new]
    marks = [word_marks(was[0], now[0]) for was, now in zip(deleted, added, strict=False)]
    for index, (text, no_newline) in enumerate(deleted):
        mark = marks[index][0] if index < len(marks) else ()
        yield Row("del", row + index + 1, None, text, mark, no_newline)
    for index, (text, no_newline) in enumerate(added):
        mark = marks[index][1] if index < len(marks) else ()
        yield Row("add", None, column + index + 1, text, mark, no_newline)


def _text(line: bytes) -> tuple[str, bool]:
    return line.removesuffix(b"\n").decode("utf-8", "replace"), not line.endswith(b"\n")


def _numbers(start: int, end: int) -> tuple[int, int]:
    return (start + 1 if end > start else start), end - start

"""The diff of one file: its hunks, with rows for the page."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sessions.changes.diffs.lines import Lines, Span, changed_spans, split_lines
from sessions.changes.diffs.rows import Rows, Stretch
from sessions.changes.diffs.unified import group_spans, hunk_range

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
    nothing but white space (`sessions.changes.review.comparing`).
    """

    hunks: tuple[Hunk, ...] = ()
    additions: int = 0
    deletions: int = 0
    binary: bool = False
    truncated: bool = False
    mixed_ends: bool = False
    hidden: tuple[Hunk, ...] = ()
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

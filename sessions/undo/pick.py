"""Single hunks of a change: their names, and the content without some of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sessions.diffs.hunks import CONTEXT, hunk_key
from sessions.diffs.lines import Span, changed_spans, split_lines
from sessions.diffs.unified import group_spans, hunk_range


@dataclass(frozen=True, slots=True)
class Piece:
    """A hunk without its rows: the `key` it is known by and its changed lines, from before to after."""

    key: str
    spans: tuple[Span, ...]


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

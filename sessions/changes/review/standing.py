"""Where the hunks of a scope stand in a file as it is now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sessions.changes.diffs.hunks import pieces
from sessions.changes.diffs.lines import Span, changed_spans, split_lines
from sessions.changes.review.verdicts import Judged, Listing, ReviewedFile, Step, judge
from sessions.changes.snapshots.objects import object_id
from sessions.changes.undo.files import UnsafePath, read_file


@dataclass(frozen=True, slots=True)
class Stretch:
    """`count` lines from `line` (from 1) on took the place of `removed`; without any, it was taken out before
    that line. `key` is what a verdict names the hunk by."""

    key: str
    line: int
    count: int
    removed: str


def standing(file: ReviewedFile, listing: Listing) -> tuple[list[Stretch], str]:
    """Those that are there as the scope left them, and the file's object id; of a hunk that changed since,
    the lines that are. Blocks."""
    try:
        root, path = listing.roots.at(file.path)
        now = read_file(root.worktree, path)
    except (OSError, UnsafePath):
        now = None
    if now is None:
        return [], ""
    lines = split_lines(now.content)
    found = [stretch for step in judge(file, listing) for stretch in _of_step(step, lines)]
    return found, object_id(now.content)


def _of_step(step: Step, now: Sequence[bytes]) -> Iterator[Stretch]:
    whole = step.hunks.get("")
    if whole is not None and step.before is not None:
        return
    old, new = split_lines(step.before or b""), split_lines(step.after or b"")
    later = changed_spans(new, now)
    if whole is not None:
        yield from _of_span(whole, (0, 0, 0, len(new)), old, later)
        return
    for piece in pieces(old, new):
        for span in piece.spans:
            yield from _of_span(step.hunks[piece.key], span, old, later)


def _of_span(hunk: Judged, span: Span, old: Sequence[bytes], later: Sequence[Span]) -> Iterator[Stretch]:
    a, b, start, stop = span
    removed = b"".join(old[a:b]).decode("utf-8", "replace")
    if hunk.state == "here":
        yield Stretch(hunk.key, start + _shift(later, start) + 1, stop - start, removed)
    elif hunk.state == "changed":
        for first, last in _unchanged(start, stop, later):
            yield Stretch(hunk.key, first + _shift(later, first) + 1, last - first, removed)


def _unchanged(start: int, stop: int, later: Sequence[Span]) -> Iterator[tuple[int, int]]:
    """The runs of lines among these that no span touches."""
    for a, b, _, _ in later:
        if a >= stop:
            break
        if a > start:
            yield start, a
        start = max(start, b)
    if start < stop:
        yield start, stop


def _shift(later: Sequence[Span], line: int) -> int:
    """By how many lines what came before a line has grown."""
    return sum((d - c) - (b - a) for a, b, c, d in later if b <= line)

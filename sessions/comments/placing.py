"""Where the lines of a comment stand now, and whether they are still there."""

from __future__ import annotations

from dataclasses import dataclass

from sessions.diffs.lines import split_lines
from sessions.models import ReviewComment

LONGEST = 400
"""Lines of a range."""


@dataclass(frozen=True, slots=True)
class Place:
    """Lines from 1, both included. `outdated`: the commented lines are no longer in the content."""

    start: int
    end: int
    outdated: bool


def lines_of(content: bytes | None, start: int, end: int) -> str:
    """The text of some lines, for a comment on them; what is beyond the file is left out."""
    lines = split_lines(content or b"")[max(start, 1) - 1 : min(end, start + LONGEST - 1)]
    return b"".join(lines).decode("utf-8", "replace")


def place(comment: ReviewComment, content: bytes | None) -> Place:
    """Where its lines are in what its side of the diff holds now: at their old place, else the nearest."""
    lines = [line.decode("utf-8", "replace") for line in split_lines(content or b"")]
    code = comment.code.splitlines(keepends=True)
    size = len(code)
    fits = [at for at in range(len(lines) - size + 1) if lines[at : at + size] == code] if code else []
    if not fits:
        last = max(len(lines), 1)
        return Place(min(comment.start, last), min(comment.end, last), outdated=True)
    start = min(fits, key=lambda at: abs(at + 1 - comment.start)) + 1
    return Place(start, start + size - 1, outdated=False)

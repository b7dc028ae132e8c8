"""Comments as they stand under the lines of a diff."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe

from sessions.changes.diffs.lines import split_lines
from sessions.core.models import ReviewComment, Session
from sessions.core.store import comments
from sessions.core.store.comments import Thread
from sessions.rendering.diffs.table import Notes, Side
from sessions.rendering.html import html

WORDS = {"draft": "Not sent yet", "sent": "Sent to the agent", "answered": "Answered"}


def notes(threads: Sequence[Thread], before: bytes | None, after: bytes | None, base: str) -> Notes:
    """By side and line, the comments under it; `base` is the session's URL."""
    made: dict[tuple[Side, int], list[str]] = {}
    for thread in threads:
        side: Side = "old" if thread.comment.side == "old" else "new"
        where = place(thread.comment, before if side == "old" else after)
        made.setdefault((side, where.end), []).append(
            html(
                "comments/note.html",
                comment=thread.comment,
                state=thread.state,
                words=WORDS[thread.state],
                place=where,
                base=base,
            )
        )
    return {key: mark_safe("".join(parts)) for key, parts in made.items()}  # noqa: S308 (rendered templates)


def note(thread: Thread, base: str) -> SafeString:
    """One comment by itself, where it was written."""
    return html(
        "comments/note.html", comment=thread.comment, state=thread.state, words=WORDS[thread.state], base=base
    )


def comment_tray(session: Session, *, oob: bool = True) -> str:
    """Empty without drafts."""
    return html("comments/tray.html", session=session, drafts=comments.drafts(session.id), oob=oob)


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

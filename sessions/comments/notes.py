"""Comments as they stand under the lines of a diff."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.safestring import SafeString, mark_safe

from sessions.comments.placing import place
from sessions.rendering.html import html
from sessions.review.reading.lines import Notes, Side
from sessions.store.comments import Thread

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

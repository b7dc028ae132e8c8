"""The form in which a person settles a conflict: both sides of each stretch, and a choice."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.safestring import SafeString

from sessions.changes.review.conflicts import Sides
from sessions.changes.review.marking import digest
from sessions.changes.undo.merge import Conflict
from sessions.rendering.html import html

CHOICES = ("file", "other", "hand")


@dataclass(frozen=True, slots=True)
class Stretch:
    """`now` and `other` are None where the bytes are no text; then nothing can be written by hand."""

    number: int
    line: int
    now: str
    other: str
    text: bool


def settle_form(file: str, pick: str, sides: Sides, *, staged: bool = False) -> SafeString:
    """`file` is the id of the file's element; `staged` that the other side is an edit that waits."""
    return html(
        "review/settle.html",
        id=f"{file}-{digest(pick)}",
        seen=sides.seen,
        removed=sides.removed,
        staged=staged,
        stretches=[_stretch(number, one) for number, one in enumerate(sides.conflicts)],
    )


def _stretch(number: int, conflict: Conflict) -> Stretch:
    try:
        now, other = conflict.current.decode(), conflict.other.decode()
    except UnicodeDecodeError:
        now, other = (part.decode("utf-8", "replace") for part in (conflict.current, conflict.other))
        return Stretch(number, conflict.line, now, other, text=False)
    return Stretch(number, conflict.line, now, other, text=True)

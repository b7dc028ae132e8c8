"""The keys that marks of a review are kept under: a file's path with its content, or with that of a hunk."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from sessions.changes.review.verdicts import ReviewedFile, Step
from sessions.changes.snapshots.changes import Change
from sessions.core.store.marks import Marks


def digest(text: str) -> str:
    """A short name for a path or a content, fit for an element's id."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:12]


def seal(change: Change) -> str:
    """Names a change by all there is of it: a verdict on a whole file says with it which content it is on."""
    sides = (change.before, change.after, change.mode_before, change.mode_after)
    text = "\0".join((change.path, *(str(side or "") for side in sides)))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:40]


def file_mark(file: ReviewedFile) -> str:
    return f"{digest(file.key)}={digest(file.mark)}"


def hunk_mark(file: ReviewedFile, pick: str) -> str:
    """`pick` is what a verdict names the hunk by; what has no hunks is named by the file's content."""
    step, divider, key = pick.rpartition(":")
    return f"{digest(file.key)}:{step}{divider}{key or digest(file.mark)}"


def picks(steps: Iterable[Step]) -> list[str]:
    """The hunks of a file, as verdicts and marks name them."""
    return [judged.key for step in steps for judged in step.hunks.values()]


def toggled(
    file: ReviewedFile, steps: Iterable[Step], hunk: str | None, on: bool, had: frozenset[str]
) -> tuple[set[str], set[str]]:
    """The keys to add and to remove when a hunk (None: the whole file) gets or loses a mark.

    A file carries a mark when all of its hunks do, so that only what is new is without it when the file
    changes.
    """
    hunks = {hunk_mark(file, pick) for pick in picks(steps)}
    whole = file_mark(file)
    chosen = hunks if hunk is None else {hunk_mark(file, hunk)} & hunks
    if not on:
        return set(), chosen | {whole}
    return (chosen | {whole} if hunks <= had | chosen else chosen), set()


def by_file(marks: Marks) -> dict[str, list[str]]:
    """All marks by the digest of their file's path, in order: what a page shows of a file depends on them."""
    found: dict[str, list[str]] = {}
    for kind in ("viewed", "kept"):
        for key in sorted(marks.of(kind)):
            found.setdefault(key[:12], []).append(f"{kind}{key[12:]}")
    return found

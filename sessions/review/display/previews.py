"""The files of a scope as its undo lists them beforehand, with the hunks that would be left alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sessions.review.conflicts import sides
from sessions.review.display.undoing import Listed, listed
from sessions.review.display.words import side
from sessions.review.verdicts.judging import judge
from sessions.review.verdicts.listing import Listing, ReviewedFile
from sessions.undo.plan import FilePlan


def previewed(plans: Iterable[FilePlan], found: Listing) -> list[Listed]:
    """As `listed`; a file that is changed but for some hunks says which. Blocks."""
    return [_told(one, found.file(one.key), found) for one in listed(plans)]


def _told(one: Listed, file: ReviewedFile | None, found: Listing) -> Listed:
    if file is None or file.state != "changed" or not one.free:
        return one
    hunks = [judged for step in judge(file, found) for judged in step.hunks.values()]
    left = [judged.key for judged in hunks if judged.state == "changed"]
    both = [chosen for key in left if (chosen := sides(file, found, key)) is not None]
    count = "1 hunk conflicts and stays" if len(left) == 1 else f"{len(left)} hunks conflict and stay"
    words = replace(
        one.words,
        tone="warn",
        words=f"{one.words.words} {count} as it is in the file.",
        conflicts=tuple(side(conflict) for chosen in both for conflict in chosen.conflicts),
    )
    return replace(one, words=words)

"""A tour of a change: the hunks of a scope, stop by stop, in the order in which a model tells them.

A tour keeps the names of hunks, which are made of their content. So what was changed since, or has come, is
in no stop of it, and what it does not cover is the last one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sessions.changes.diffs.hunks import pieces
from sessions.changes.diffs.lines import split_lines
from sessions.changes.review.filediffs import count_change
from sessions.changes.review.marking import hunk_mark
from sessions.changes.review.verdicts import Judged, Listing, ReviewedFile, Step, judge
from sessions.core.models import Tour


@dataclass(frozen=True, slots=True)
class Part:
    """A hunk of a scope, or what is taken back as a whole; `mark` is what it is kept under."""

    file: ReviewedFile
    step: Step
    judged: Judged
    mark: str


@dataclass(frozen=True, slots=True)
class Stop:
    """`gone` of its hunks are not as they were. The one without title has what no other has."""

    title: str
    text: str
    parts: tuple[Part, ...]
    gone: int = 0


@dataclass(frozen=True, slots=True)
class Route:
    """A tour as it stands with the files as they are now: `fresh` hunks were not there when it was made,
    `gone` ones are not there any more. `parts` are all of the scope."""

    tour: Tour
    stops: tuple[Stop, ...]
    parts: tuple[Part, ...]
    fresh: int
    gone: int

    @property
    def outdated(self) -> bool:
        return bool(self.fresh or self.gone)


def parts_of(listing: Listing) -> list[Part]:
    """All hunks of a scope, in the order of the review. Blocks."""
    return [
        Part(file, step, judged, hunk_mark(file, judged.key))
        for file in listing.files
        for step in judge(file, listing)
        for judged in step.hunks.values()
    ]


def route(tour: Tour, listing: Listing) -> Route:
    """A tour of all that a scope shows. Blocks."""
    parts = parts_of(listing)
    by_mark = {part.mark: part for part in parts}
    stops = [_stop(stop["title"], stop["text"], stop["hunks"], by_mark) for stop in tour.stops]
    told = {part.mark for stop in stops for part in stop.parts}
    if rest := tuple(part for part in parts if part.mark not in told):
        stops.append(Stop("", "", rest))
    fresh = len(by_mark.keys() - set(tour.hunks))
    gone = sum(mark not in by_mark for mark in tour.hunks)
    return Route(tour, tuple(stops), tuple(parts), fresh, gone)


def _stop(title: str, text: str, marks: Sequence[str], by_mark: dict[str, Part]) -> Stop:
    found = tuple(by_mark[mark] for mark in marks if mark in by_mark)
    return Stop(title, text, found, len(marks) - len(found))


def at_stop(listing: Listing, route: Route, number: int) -> Listing:
    """What a stop shows, the last one where there are not so many: its files in its order, with its hunks
    alone. Blocks."""
    number = min(number, len(route.stops))
    whole = Counter(part.file.key for part in route.parts)
    own: dict[str, list[Part]] = {}
    for part in route.stops[number - 1].parts if number else ():
        own.setdefault(part.file.key, []).append(part)
    picked = {
        key: frozenset(part.judged.key for part in parts)
        for key, parts in own.items()
        if len(parts) < whole[key]
    }
    files = [_counted(listing, parts) if key in picked else parts[0].file for key, parts in own.items()]
    return replace(listing, files=tuple(files), stop=number, only=picked)


def _counted(listing: Listing, parts: Sequence[Part]) -> ReviewedFile:
    """A file with the lines of some of its hunks for those of all."""
    objects = listing.roots.of(parts[0].file.path).objects
    additions = deletions = 0
    for part in parts:
        if part.judged.state in ("gone", "missing"):
            continue
        if "" in part.step.hunks:
            added, deleted = count_change(part.step.change, objects)
            additions, deletions = additions + added, deletions + deleted
            continue
        own = next(key for key, judged in part.step.hunks.items() if judged is part.judged)
        for piece in pieces(split_lines(part.step.before or b""), split_lines(part.step.after or b"")):
            if piece.key == own:
                additions += sum(d - c for _, _, c, d in piece.spans)
                deletions += sum(b - a for a, b, _, _ in piece.spans)
    return replace(parts[0].file, additions=additions, deletions=deletions)

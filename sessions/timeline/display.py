"""What the page shows of moments and points: figures, marks of the slider, the first lines of a diff."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from sessions.rendering.text import visible
from sessions.review.reading.comparing import compare
from sessions.review.reading.table import show
from sessions.snapshots.changes import Change
from sessions.snapshots.objects import ObjectMissing, ObjectStore

from .collecting import Timeline
from .moments import KINDS, Moment, Touched
from .scrubbing import Point, figures

OPEN_FILES = 40
"""Files of a point whose diffs come with it; the others load when they are opened."""
_FILES = 8
_MARKS = 12
_FIRST_LINES = 14


@dataclass(frozen=True, slots=True)
class FileLine:
    name: str
    note: str
    additions: int
    deletions: int


@dataclass(frozen=True, slots=True)
class MomentRow:
    """A moment with the figures of its files; `more` counts those that are not listed."""

    moment: Moment
    icon: str
    note: str
    files: Sequence[FileLine]
    more: int
    additions: int
    deletions: int


@dataclass(frozen=True, slots=True)
class Mark:
    """A turn below the slider: where it began among the points, and its number."""

    stop: int
    number: int
    words: str


@dataclass(frozen=True, slots=True)
class FirstLines:
    """The beginning of one file's diff."""

    name: str
    table: SafeString


def rows(moments: Sequence[Moment], objects: ObjectStore, me: str) -> list[MomentRow]:
    """`me` is who looks. Reads contents, so it blocks; what was compared once is known."""
    return [_row(moment, objects, me) for moment in moments]


def marks(timeline: Timeline) -> list[Mark]:
    """At most twelve turns, evenly, so that their labels have room."""
    turns = timeline.turns
    places = {change: number for number, change in enumerate(timeline.stops)}
    every = max(1, -(-len(turns) // _MARKS))
    return [
        Mark(places[turn.change], number + 1, visible(turn.detail)[:80])
        for number, turn in enumerate(turns)
        if number % every == 0
    ]


def first_lines(point: Point) -> FirstLines | None:
    """Of the file that was changed last, or of the first one."""
    files = sorted(point.files, key=lambda file: not file.newest)
    for file in files:
        step = file.steps[-1]
        if step.skipped:
            continue
        try:
            found = compare(step, point.objects)
        except ObjectMissing:
            continue
        if found.diff.hunks:
            return FirstLines(file.name, show(found.diff, file.name, "unified", limit=_FIRST_LINES).table)
    return None


def _row(moment: Moment, objects: ObjectStore, me: str) -> MomentRow:
    files = [_line(file, objects) for file in moment.files]
    return MomentRow(
        moment=moment,
        icon=KINDS[moment.kind].icon,
        note=moment.note.replace(f"by {me}", "by you") if me else moment.note,
        files=files[:_FILES],
        more=max(0, len(files) - _FILES),
        additions=sum(file.additions for file in files),
        deletions=sum(file.deletions for file in files),
    )


def _line(file: Touched, objects: ObjectStore) -> FileLine:
    if file.additions is not None and file.deletions is not None:
        return FileLine(file.path, file.note, file.additions, file.deletions)
    change = Change(file.path, file.before or None, file.after or None, skipped=file.note or None)
    return FileLine(file.path, file.note, *figures(change, objects))

"""What the page shows of moments and points: figures, marks of the slider, the first lines of a diff."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from sessions.changes.history.moments import KINDS, Moment, Touched
from sessions.changes.history.scrubbing import Point
from sessions.changes.history.timeline import Timeline
from sessions.changes.review.comparing import compare
from sessions.changes.review.filediffs import count_change
from sessions.changes.snapshots.changes import Change
from sessions.changes.snapshots.objects import ObjectMissing, ObjectStore
from sessions.core.models import Session
from sessions.core.store import forks
from sessions.core.text import visible
from sessions.rendering.diffs.table import show
from sessions.rendering.html import html

OPEN_FILES = 40
"""Files of a point whose diffs come with it; the others load when they are opened."""
_FILES = 8
_MARKS = 10
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
    """Turns so far apart on the slider that their labels have room; of those at one point the first."""
    places = {change: number for number, change in enumerate(timeline.stops)}
    room = (len(places) - 1) / _MARKS
    found: list[Mark] = []
    for number, turn in enumerate(timeline.turns, 1):
        stop = places[turn.change]
        if not found or stop - found[-1].stop > room:
            found.append(Mark(stop, number, visible(turn.detail)[:80]))
    return found


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
    return FileLine(file.path, file.note, *count_change(change, objects))


def timeline_news(session: Session, *, oob: bool = True) -> str:
    """An element that, once swapped in, loads the list anew with the filter that is chosen."""
    return html("timeline/news.html", session=session, oob=oob)


def fork_links(session: Session, *, oob: bool = True) -> str:
    """The way to the session that this one was forked from, and to its own forks."""
    source = session.forked_from
    if source is not None and source.time_deleted is not None:
        source = None
    return html("fork/links.html", session=session, source=source, forks=forks.listing(session.id), oob=oob)

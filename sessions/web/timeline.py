"""The timeline's page: what happened, the files at any point of it, read only."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_GET

from sessions.changes.diffs.images import image as image_of
from sessions.changes.history.moments import KINDS, Moment, Touched
from sessions.changes.history.scrubbing import Point, PointFile, point
from sessions.changes.history.timeline import PAGE, Timeline, timeline
from sessions.changes.review.comparing import compare
from sessions.changes.review.filediffs import count_change
from sessions.changes.roots import Roots, roots_among
from sessions.changes.snapshots.changes import Change
from sessions.changes.snapshots.objects import ObjectMissing
from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.principal import actor
from sessions.core.store import events, forks, ledger
from sessions.core.text import visible
from sessions.rendering.diffs.body import file_body
from sessions.rendering.diffs.table import Reading, show
from sessions.rendering.html import html
from sessions.web.access import session_of
from sessions.web.respond import fragment, page

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


def rows(moments: Sequence[Moment], roots: Roots, me: str) -> list[MomentRow]:
    """`me` is who looks. Reads contents, so it blocks; what was compared once is known."""
    return [_row(moment, roots, me) for moment in moments]


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
            found = compare(step, point.roots.of(step.path).objects)
        except ObjectMissing:
            continue
        if found.diff.hunks:
            return FirstLines(file.name, show(found.diff, file.name, "unified", limit=_FIRST_LINES).table)
    return None


def _row(moment: Moment, roots: Roots, me: str) -> MomentRow:
    files = [_line(file, roots) for file in moment.files]
    return MomentRow(
        moment=moment,
        icon=KINDS[moment.kind].icon,
        note=moment.note.replace(gettext("by %(actor)s") % {"actor": me}, gettext("by you"))
        if me
        else moment.note,
        files=files[:_FILES],
        more=max(0, len(files) - _FILES),
        additions=sum(file.additions for file in files),
        deletions=sum(file.deletions for file in files),
    )


def _line(file: Touched, roots: Roots) -> FileLine:
    if file.additions is not None and file.deletions is not None:
        return FileLine(file.path, file.note, file.additions, file.deletions)
    change = Change(file.path, file.before or None, file.after or None, skipped=file.note or None)
    return FileLine(file.path, file.note, *count_change(change, roots.of(file.path).objects))


def timeline_news(session: Session, *, oob: bool = True) -> str:
    """An element that, once swapped in, loads the list anew with the filter that is chosen."""
    return html("timeline/news.html", session=session, oob=oob)


def fork_links(session: Session, *, oob: bool = True) -> str:
    """The way to the session that this one was forked from, and to its own forks."""
    source = session.forked_from
    if source is not None and source.time_deleted is not None:
        source = None
    return html("fork/links.html", session=session, source=source, forks=forks.listing(session.id), oob=oob)


_MOST = 100_000
_INERT = "sandbox; default-src 'none'; style-src 'unsafe-inline'"


@require_GET
async def whole(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """The page; the cursor is read first, so that nothing is missed after it."""
    session = await session_of(project_id, session_id)
    cursor = await in_db(events.latest)
    return await page(
        request,
        "timeline/page.html",
        session=session,
        project=session.project,
        cursor=cursor,
        news=mark_safe(await in_db(timeline_news, session, oob=False)),  # noqa: S308 (a rendered template)
        **await _listed(session, request),
    )


@require_GET
async def moments(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """`?kind=…&show=`: the last moments of these kinds, and the points of the slider."""
    session = await session_of(project_id, session_id)
    return fragment("timeline/moments.html", **await _listed(session, request))


@require_GET
async def at(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """`?change=`: the net of the files at a point, with the first lines of a diff."""
    session = await session_of(project_id, session_id)
    found = await point(session, _change(request))
    shown = await asyncio.to_thread(first_lines, found)
    return fragment("timeline/at.html", point=found, first=shown, words=_words(found))


@require_GET
async def opened(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """`?change=`: the same with every diff, loaded as they are seen."""
    session = await session_of(project_id, session_id)
    found = await point(session, _change(request))
    first, rest = found.files[:OPEN_FILES], found.files[OPEN_FILES:]
    bodies = await asyncio.to_thread(
        lambda: [(file, _bodies(session, found, file, Reading())) for file in first]
    )
    return fragment(
        "timeline/point.html", base=session.get_absolute_url(), point=found, files=bodies, rest=rest
    )


@require_GET
async def file(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """`?change=&path=&step=`: one file at a point; with `rows` or `gap` a piece of its table."""
    session = await session_of(project_id, session_id)
    found, one = await _file(session, request)
    reading = Reading.asked(request.GET.dict())
    bodies = await asyncio.to_thread(_bodies, session, found, one, reading)
    step = request.GET.get("step", "")
    if not step:
        return HttpResponse("".join(bodies))
    if not step.isdecimal() or int(step) >= len(bodies):
        raise Http404(gettext("This file has no such step."))
    return HttpResponse(bodies[int(step)])


@require_GET
async def image(request: HttpRequest, project_id: str, session_id: str, oid: str) -> HttpResponse:
    """One side of an image at a point; nothing else is served from here."""
    session = await session_of(project_id, session_id)
    found, one = await _file(session, request)
    if oid not in {side for step in one.steps for side in (step.before, step.after)}:
        raise Http404(gettext("This is no image of these changes."))
    try:
        objects = found.roots.of(one.steps[0].path).objects
        content = await asyncio.to_thread(objects.get, oid)
    except ObjectMissing as error:
        raise Http404(gettext("The content is no longer at hand.")) from error
    seen = await asyncio.to_thread(image_of, content, one.name)
    if seen is None:
        raise Http404(gettext("This is no image."))
    headers = {"Content-Security-Policy": _INERT, "X-Content-Type-Options": "nosniff"}
    return HttpResponse(content, content_type=seen.kind, headers=headers)


async def _file(session: Session, request: HttpRequest) -> tuple[Point, PointFile]:
    found = await point(session, _change(request))
    one = found.file(request.GET.get("path", ""))
    if one is None:
        raise Http404(gettext("This file was not changed at this point."))
    return found, one


async def _listed(session: Session, request: HttpRequest) -> dict[str, Any]:
    query = request.GET
    asked = [kind for kind in query.getlist("kind") if kind in KINDS]
    show = query.get("show", "")
    count = min(int(show), _MOST) if show.isdecimal() and len(show) < 9 and int(show) else PAGE
    found: Timeline = await in_db(timeline, session, kinds=asked, show=count)
    roots = await in_db(lambda: roots_among(session.project, ledger.projects_of(session)))
    return {
        "base": session.get_absolute_url(),
        "timeline": found,
        "rows": await asyncio.to_thread(rows, found.moments, roots, actor(request)),
        "marks": marks(found),
        "kinds": [
            (kind, words, kind in asked or not asked, found.counts[kind]) for kind, words in KINDS.items()
        ],
        "show": count,
        "more": count + PAGE,
    }


def _bodies(session: Session, found: Point, file: PointFile, reading: Reading) -> Sequence[str]:
    """The diff of each step of a file."""
    return [
        file_body(
            step,
            found.roots.of(step.path).objects,
            reading,
            base=f"{session.get_absolute_url()}/timeline",
            query=urlencode({"change": found.change, "path": file.key, "step": number}),
            mark=f"t{number}",
        )
        for number, step in enumerate(file.steps)
    ]


def _words(found: Point) -> str:
    """The point in a line, for the slider's value."""
    when = (
        gettext("After %(title)s") % {"title": visible(found.moment.title)}
        if found.moment
        else gettext("Before any change")
    )
    words = ngettext(
        "%(when)s, %(count)s file changed, %(added)s lines added, %(removed)s removed",
        "%(when)s, %(count)s files changed, %(added)s lines added, %(removed)s removed",
        len(found.files),
    )
    given = {"when": when, "count": len(found.files)}
    return words % {**given, "added": found.additions, "removed": found.deletions}


def _change(request: HttpRequest) -> int:
    given = request.GET.get("change", "")
    if not given.isdecimal() or len(given) > 18:
        raise Http404(gettext("There is no such point in the timeline."))
    return int(given)

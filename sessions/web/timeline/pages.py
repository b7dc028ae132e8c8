"""The timeline's page: what happened, the files at any point of it, read only."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_GET

from sessions.changes.diffs.images import image as image_of
from sessions.changes.history.moments import KINDS
from sessions.changes.history.scrubbing import Point, PointFile, point
from sessions.changes.history.timeline import PAGE, Timeline, timeline
from sessions.changes.snapshots.objects import ObjectMissing
from sessions.changes.tracking import tracker
from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.principal import actor
from sessions.core.store import events
from sessions.core.text import visible
from sessions.rendering.diffs.body import file_body
from sessions.rendering.diffs.table import Reading
from sessions.web.access import session_of
from sessions.web.respond import fragment, page
from sessions.web.timeline import display
from sessions.web.timeline.display import timeline_news

_MOST = 100_000
_INERT = "sandbox; default-src 'none'; style-src 'unsafe-inline'"


@require_GET
async def whole(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """The page; the cursor is read first, so that nothing is missed after it."""
    session = await session_of(project_id, session_id)
    cursor = await in_db(events.latest)
    return page(
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
    shown = await asyncio.to_thread(display.first_lines, found)
    return fragment("timeline/at.html", point=found, first=shown, words=_words(found))


@require_GET
async def opened(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """`?change=`: the same with every diff, loaded as they are seen."""
    session = await session_of(project_id, session_id)
    found = await point(session, _change(request))
    first, rest = found.files[: display.OPEN_FILES], found.files[display.OPEN_FILES :]
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
        raise Http404("This file has no such step.")
    return HttpResponse(bodies[int(step)])


@require_GET
async def image(request: HttpRequest, project_id: str, session_id: str, oid: str) -> HttpResponse:
    """One side of an image at a point; nothing else is served from here."""
    session = await session_of(project_id, session_id)
    found, one = await _file(session, request)
    if oid not in {side for step in one.steps for side in (step.before, step.after)}:
        raise Http404("This is no image of these changes.")
    try:
        content = await asyncio.to_thread(found.objects.get, oid)
    except ObjectMissing as error:
        raise Http404("The content is no longer at hand.") from error
    seen = await asyncio.to_thread(image_of, content, one.name)
    if seen is None:
        raise Http404("This is no image.")
    headers = {"Content-Security-Policy": _INERT, "X-Content-Type-Options": "nosniff"}
    return HttpResponse(content, content_type=seen.kind, headers=headers)


async def _file(session: Session, request: HttpRequest) -> tuple[Point, PointFile]:
    found = await point(session, _change(request))
    one = found.file(request.GET.get("path", ""))
    if one is None:
        raise Http404("This file was not changed at this point.")
    return found, one


async def _listed(session: Session, request: HttpRequest) -> dict[str, Any]:
    query = request.GET
    asked = [kind for kind in query.getlist("kind") if kind in KINDS]
    show = query.get("show", "")
    count = min(int(show), _MOST) if show.isdecimal() and len(show) < 9 and int(show) else PAGE
    found: Timeline = await in_db(timeline, session, kinds=asked, show=count)
    project = await asyncio.to_thread(tracker, session.project)
    return {
        "base": session.get_absolute_url(),
        "timeline": found,
        "rows": await asyncio.to_thread(display.rows, found.moments, project.objects, actor(request)),
        "marks": display.marks(found),
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
            found.objects,
            reading,
            base=f"{session.get_absolute_url()}/timeline",
            query=urlencode({"change": found.change, "path": file.key, "step": number}),
            mark=f"t{number}",
        )
        for number, step in enumerate(file.steps)
    ]


def _words(found: Point) -> str:
    """The point in a line, for the slider's value."""
    when = f"After {visible(found.moment.title)}" if found.moment else "Before any change"
    files = "1 file" if len(found.files) == 1 else f"{len(found.files)} files"
    return f"{when}, {files} changed, {found.additions} lines added, {found.deletions} removed"


def _change(request: HttpRequest) -> int:
    given = request.GET.get("change", "")
    if not given.isdecimal() or len(given) > 18:
        raise Http404("There is no such point in the timeline.")
    return int(given)

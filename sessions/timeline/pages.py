"""The timeline's page: what happened, the files at any point of it, read only."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_GET

from sessions.db import in_db
from sessions.diffs.images import image as image_of
from sessions.models import Session
from sessions.pages.access import session_of
from sessions.pages.respond import actor, fragment, page
from sessions.review.reading.body import file_body
from sessions.review.reading.query import Reading
from sessions.snapshots.objects import ObjectMissing
from sessions.store import events
from sessions.tracking import tracker

from . import display
from .collecting import PAGE, Timeline, timeline
from .live import timeline_news
from .moments import KINDS
from .scrubbing import Point, PointFile, point

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
    return fragment("timeline/at.html", base=_base(session), point=found, first=shown)


@require_GET
async def opened(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """`?change=`: the same with every diff, loaded as they are seen."""
    session = await session_of(project_id, session_id)
    found = await point(session, _change(request))
    first, rest = found.files[: display.OPEN_FILES], found.files[display.OPEN_FILES :]
    bodies = await asyncio.to_thread(
        lambda: [(file, _bodies(session, found, file, Reading())) for file in first]
    )
    return fragment("timeline/point.html", base=_base(session), point=found, files=bodies, rest=rest)


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
        "base": _base(session),
        "timeline": found,
        "rows": await asyncio.to_thread(display.rows, found.moments, project.objects, actor(request)),
        "marks": display.marks(found),
        "kinds": [(kind, words, kind in asked, found.counts[kind]) for kind, words in KINDS.items()],
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
            base=f"{_base(session)}/timeline",
            query=urlencode({"change": found.change, "path": file.key, "step": number}),
            mark=f"t{number}",
        )
        for number, step in enumerate(file.steps)
    ]


def _change(request: HttpRequest) -> int:
    given = request.GET.get("change", "")
    if not given.isdecimal() or len(given) > 18:
        raise Http404("There is no such point in the timeline.")
    return int(given)


def _base(session: Session) -> str:
    return f"/p/{session.project_id}/s/{session.id}"

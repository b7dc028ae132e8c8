"""Pieces of a file of the review: its diff alone, later rows of it, lines around its hunks, its images."""

from __future__ import annotations

import asyncio

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from sessions.diffs.images import image as image_of
from sessions.pages.access import session_of
from sessions.review.display.bodies import bodies
from sessions.review.verdicts.listing import listing
from sessions.review.verdicts.scopes import Scope
from sessions.snapshots.objects import ObjectMissing

from .asked import asked
from .respond import base

_INERT = "sandbox; default-src 'none'; style-src 'unsafe-inline'"


@require_GET
async def file(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """`?path=&step=` in the scope: the body of a file; with `rows` or `gap` that part of its table."""
    session = await session_of(project_id, session_id)
    shown = await asked(request, session, recent=True)
    found = shown.found.file(request.GET.get("path", ""))
    step = request.GET.get("step", "0")
    if found is None or not step.isdecimal() or int(step) >= len(found.steps):
        raise Http404("This file is no longer among the changes.")
    made = await asyncio.to_thread(
        bodies, found, shown.found, shown.marks, shown.reading, base(session), step=int(step)
    )
    return HttpResponse("".join(made))


@require_GET
async def image(request: HttpRequest, project_id: str, session_id: str, oid: str) -> HttpResponse:
    """One side of an image among the changes of the scope; nothing else is served from here."""
    session = await session_of(project_id, session_id)
    found = await listing(session, Scope.asked(request.GET.dict()))
    file = found.file(request.GET.get("path", ""))
    if file is None or oid not in {side for step in file.steps for side in (step.before, step.after)}:
        raise Http404("This is no image of these changes.")
    try:
        content = await asyncio.to_thread(found.project.objects.get, oid)
    except ObjectMissing as error:
        raise Http404("The content is no longer at hand.") from error
    seen = await asyncio.to_thread(image_of, content, file.renamed_from or file.path)
    if seen is None:
        raise Http404("This is no image.")
    response = HttpResponse(content, content_type=seen.kind)
    response["Content-Security-Policy"] = _INERT
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = "private, max-age=31536000, immutable"
    return response

"""The review panel: the files of a scope, and the diffs of those that come into view."""

from __future__ import annotations

import asyncio

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from sessions.changes.diffs.images import image as image_of
from sessions.changes.review.verdicts import Scope, listing
from sessions.changes.snapshots.objects import ObjectMissing
from sessions.core.db import in_db
from sessions.web.access import session_of
from sessions.web.respond import fragment
from sessions.web.review.display import scopes
from sessions.web.review.display.files import blocks, bodies, file_row, file_rows, totals, tree
from sessions.web.review.pages.answers import asked

MOST = 40
"""Files whose diffs are asked for at once."""


@require_GET
async def panel(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """`?scope=&message=&part=&view=&w=`: the files changed; `&bare=1` without diffs, where they are shown."""
    session = await session_of(project_id, session_id)
    shown = await asked(request, session)
    bare = "bare" in request.GET
    rows = await asyncio.to_thread(
        file_rows, shown.found, shown.marks, shown.reading, session.get_absolute_url(), bare=bare
    )
    options = await in_db(scopes.options, session, shown.scope)
    return fragment(
        "review/panel.html",
        base=session.get_absolute_url(),
        session=session,
        asked=shown,
        options=options,
        files=await asyncio.to_thread(blocks, rows, staged=shown.staged),
        tree=await asyncio.to_thread(tree, rows),
        total=totals(rows),
        empty=scopes.empty(shown.scope, options),
        waiting=scopes.WAITING,
        problem=shown.found.problem,
    )


@require_GET
async def files(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """`?path=` of files of the panel, in the same scope: each with its diffs."""
    session = await session_of(project_id, session_id)
    shown = await asked(request, session, recent=True)
    wanted = set(request.GET.getlist("path")[:MOST])
    chosen = [file for file in shown.found.files if file.key in wanted]
    base = session.get_absolute_url()
    rows = await asyncio.to_thread(
        lambda: [file_row(file, shown.found, shown.marks, shown.reading, base) for file in chosen]
    )
    return HttpResponse(blocks(rows, staged=shown.staged))


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
        bodies, found, shown.found, shown.marks, shown.reading, session.get_absolute_url(), step=int(step)
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

"""The review panel: the files of a scope, and the diffs of those that come into view."""

from __future__ import annotations

import asyncio

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from sessions.db import in_db
from sessions.pages.access import session_of
from sessions.pages.respond import fragment
from sessions.review.display import scopes
from sessions.review.display.blocks import blocks
from sessions.review.display.files import file_row, file_rows, totals
from sessions.review.display.tree import tree

from .asked import asked
from .respond import base

MOST = 40
"""Files whose diffs are asked for at once."""


@require_GET
async def panel(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """`?scope=&message=&part=&view=&w=`: the files changed; `&bare=1` without diffs, where they are shown."""
    session = await session_of(project_id, session_id)
    shown = await asked(request, session)
    bare = "bare" in request.GET
    rows = await asyncio.to_thread(
        file_rows, shown.found, shown.marks, shown.reading, base(session), bare=bare
    )
    options = await in_db(scopes.options, session, shown.scope)
    return fragment(
        "review/panel.html",
        base=base(session),
        session=session,
        asked=shown,
        options=options,
        files=await asyncio.to_thread(blocks, rows, staged=shown.staged),
        tree=await asyncio.to_thread(tree, rows),
        total=totals(rows),
        empty=scopes.empty(shown.scope, options),
        problem=shown.found.problem,
    )


@require_GET
async def files(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """`?path=` of files of the panel, in the same scope: each with its diffs."""
    session = await session_of(project_id, session_id)
    shown = await asked(request, session, recent=True)
    wanted = set(request.GET.getlist("path")[:MOST])
    chosen = [file for file in shown.found.files if file.key in wanted]
    rows = await asyncio.to_thread(
        lambda: [file_row(file, shown.found, shown.marks, shown.reading, base(session)) for file in chosen]
    )
    return HttpResponse(blocks(rows, staged=shown.staged))

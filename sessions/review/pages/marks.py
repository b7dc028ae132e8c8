"""Kept and viewed: marks on hunks, files, or all files of a scope."""

from __future__ import annotations

import asyncio

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from sessions.db import in_db
from sessions.pages.access import session_of
from sessions.pages.respond import done, refused
from sessions.review.marking import toggled
from sessions.review.verdicts.judging import judge
from sessions.store import marks

from .answers import answered
from .asked import Asked, asked


@require_POST
async def mark(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """`kind` is kept or viewed, `on` 1 or 0, `path` a file of the scope (none: all of them), `hunk` one of
    its hunks (none: the whole file)."""
    session = await session_of(project_id, session_id)
    shown = await asked(request, session)
    kind, path = request.POST.get("kind", ""), request.POST.get("path", "")
    if kind not in marks.KINDS:
        return refused("This is no mark.")
    add, remove = await asyncio.to_thread(
        _keys, shown, kind, path, request.POST.get("hunk"), request.POST.get("on") == "1"
    )
    await in_db(marks.put, session, kind, add=add, remove=remove)
    return await answered(shown, [path]) if path else done()


def _keys(shown: Asked, kind: str, path: str, hunk: str | None, on: bool) -> tuple[set[str], set[str]]:
    """The keys of marks to set and to take."""
    add: set[str] = set()
    remove: set[str] = set()
    had = shown.marks.of(kind)
    for file in shown.found.files:
        if not path or file.key == path:
            new, gone = toggled(file, judge(file, shown.found), hunk if path else None, on, had)
            add |= new
            remove |= gone
    return add, remove

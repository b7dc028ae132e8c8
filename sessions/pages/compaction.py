"""`/compact`: have the conversation summed up."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from sessions import actions
from sessions.store.compaction import NothingToCompact

from .access import session_of
from .respond import done, refused


@require_POST
async def compact(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """At once, or when the turn that runs has ended."""
    try:
        await actions.compact(await session_of(project_id, session_id))
    except NothingToCompact as problem:
        return refused(str(problem))
    return done()

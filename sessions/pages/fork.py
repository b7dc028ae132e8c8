"""`/fork`: go on from here in a session of its own."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from sessions.db import in_db
from sessions.store import forks

from .access import session_of
from .respond import redirect


@require_POST
async def fork(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    session = await session_of(project_id, session_id)
    copy = await in_db(forks.fork, session)
    return redirect(f"/p/{copy.project_id}/s/{copy.id}")

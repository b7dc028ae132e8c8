"""The dialog in which a person looks at what a project wants to run, and trusts it or takes that back."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from agents.agent import trust as state
from agents.config.trust.wants import Want
from agents.servers.mcp.hub import hub
from sessions.core.db import in_db
from sessions.core.models import Project
from sessions.core.store import projects
from sessions.core.store import sessions as session_store


@require_GET
async def dialog(request: HttpRequest) -> HttpResponse:
    """What the project of `?project=` asks for, in the folder of `?session=`."""
    project, directory, session = await _place(request.GET)
    return await _dialog(request, project, directory, session)


@require_POST
async def trust(request: HttpRequest) -> HttpResponse:
    """Trust exactly what was shown: `shown` is its fingerprint."""
    project, directory, session = await _place(request.POST)
    try:
        await asyncio.to_thread(state.trust, directory, request.POST.get("shown", ""))
    except state.Changed as problem:
        return await _dialog(request, project, directory, session, str(problem))
    hub.warm(directory)
    return _page_anew()


@require_POST
async def revoke(request: HttpRequest) -> HttpResponse:
    _, directory, _ = await _place(request.POST)
    await asyncio.to_thread(state.revoke, directory)
    hub.warm(directory)
    return _page_anew()


async def banner(directory: Path, project: str, session: str) -> dict[str, Any]:
    """What `trust/banner.html` shows, for the notices of a page."""
    wants = await asyncio.to_thread(state.wants, directory)
    asked = [want for want in wants if not want.trusted]
    place = {"project": project, "session": session}
    return {"asked": asked, "trusted": len(wants) - len(asked), "place": place}


async def _dialog(
    request: HttpRequest, project: Project, directory: Path, session: str, problem: str = ""
) -> HttpResponse:
    wants = await asyncio.to_thread(state.wants, directory)
    asked: list[Want] = [want for want in wants if not want.trusted]
    context = {
        "project": project,
        "session": session,
        "asked": asked,
        "trusted": [want for want in wants if want.trusted],
        "shown": state.fingerprint(asked),
        "problem": problem,
    }
    return render(request, "trust/dialog.html", context)


def _page_anew() -> HttpResponse:
    """Models, agents, tools and notices may all have changed. A prompt that is being written survives."""
    return HttpResponse(status=200, headers={"HX-Refresh": "true"})


async def _place(fields: QueryDict) -> tuple[Project, Path, str]:
    """The project, the folder and the id of the session, empty without one. Raises Http404."""
    project = await in_db(projects.get, fields.get("project", ""))
    if project is None:
        raise Http404(gettext("This project is not known here."))
    session = await in_db(session_store.get, fields.get("session", ""))
    if session is None or session.project_id != project.id:
        return project, Path(project.worktree), ""
    return project, Path(session.directory), session.id

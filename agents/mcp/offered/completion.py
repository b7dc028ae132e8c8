"""The resources that `@` in the composer offers."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from agents.mcp.offered.resources import Resource, matching
from sessions.db import in_db
from sessions.store import projects
from sessions.store import sessions as session_store

MOST_SHOWN = 12


@require_GET
async def options(request: HttpRequest) -> HttpResponse:
    """The resources of the MCP servers of `?session=` or `?project=` that `?q=` names, as options."""
    directory = await _directory(request)
    found = await asyncio.to_thread(matching, directory, request.GET.get("q", ""), MOST_SHOWN)
    return render(request, "pickers/resources.html", {"resources": [_option(one) for one in found]})


def _option(resource: Resource) -> dict[str, str]:
    """`words` stand for the resource in the prompt, `part` is what they become."""
    return {
        "name": resource.name,
        "server": resource.server,
        "about": resource.description or resource.uri,
        "words": resource.words,
        "part": json.dumps(resource.part()),
    }


async def _directory(request: HttpRequest) -> Path:
    """Raises Http404."""
    session = await in_db(session_store.get, request.GET.get("session", ""))
    if session is not None:
        return Path(session.directory)
    project = await in_db(projects.get, request.GET.get("project", ""))
    if project is None:
        raise Http404("The session is gone.")
    return Path(project.worktree)

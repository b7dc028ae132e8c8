"""What the composer completes itself: `@` files of the project, `/` commands of the browser.

Agents after `@` and commands that become prompts come from the agents' room, pulled by the browser.
"""

from __future__ import annotations

import logging
from pathlib import Path

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from sessions.project import search
from sessions.web.access import project_of, session_of
from sessions.web.respond import fragment
from sessions.web.shortcuts import COMMANDS, offered

MOST_SHOWN = 12

log = logging.getLogger(__name__)


@require_GET
async def commands(request: HttpRequest, project_id: str, session_id: str = "") -> HttpResponse:
    query = request.GET.get("q", "").lower()
    found = [command for command in offered(request, COMMANDS) if query in command.name]
    found.sort(key=lambda command: not command.name.startswith(query))
    return fragment("composer/options.html", commands=found)


@require_GET
async def files(request: HttpRequest, project_id: str, session_id: str = "") -> HttpResponse:
    if session_id:
        directory = (await session_of(project_id, session_id)).directory
    else:
        directory = (await project_of(project_id)).worktree
    try:
        found = await search.find_files(Path(directory), request.GET.get("q", ""), limit=MOST_SHOWN)
    except search.SearchFailed as problem:
        log.warning("no files to complete: %s", problem)
        found = []
    return fragment("composer/options.html", files=found)

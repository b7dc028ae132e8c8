"""The problems of a project's files, for its session's page: how many in the header, and the panel of all."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from pathlib import Path

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.views.decorators.http import require_GET, require_POST

from agents.config.configuration import load
from agents.servers.lsp.matrix import rows
from agents.servers.lsp.service import service
from sessions.core.db import in_db
from sessions.core.models import Project
from sessions.core.models.ledger import unpack_path
from sessions.core.store import problems
from sessions.web.access import located
from sessions.web.problems.current import FileNow, content_now, current
from sessions.web.problems.panel import excerpt, panel
from sessions.web.respond import fragment

CHECKED = 20
"""Files that one press of the button has checked again."""
CHECK_SECONDS = 10.0


@require_GET
async def count(request: HttpRequest) -> HttpResponse:
    """The button of the header; hidden while there is nothing, and where language servers are off."""
    directory, _, project = await located(request.GET)
    servers = await _servers(directory)
    shown = panel(await current(project, servers) if servers else [])
    return fragment("problems/button.html", on=bool(servers), panel=shown)


@require_GET
async def listing(request: HttpRequest) -> HttpResponse:
    directory, _, project = await located(request.GET)
    servers = await _servers(directory)
    return await _listing(request.GET, project, servers, await current(project, servers) if servers else [])


@require_GET
async def lines(request: HttpRequest) -> HttpResponse:
    """The lines of `?path=` around `?line=` (from 1), as the file is now."""
    project = (await located(request.GET)).project
    path, line = unpack_path(request.GET.get("path", "")), request.GET.get("line", "")
    content = await asyncio.to_thread(content_now, Path(project.worktree), path) if path else None
    if content is None or not (line.isdecimal() and len(line) < 9):
        raise Http404("This file is no longer there.")
    shown = excerpt(content, int(line))
    return fragment("problems/lines.html", lines=shown, path=path, line=line)


@require_POST
async def check(request: HttpRequest) -> HttpResponse:
    """Have the servers look at the files again that have, or had, problems."""
    directory, _, project = await located(request.POST)
    servers = await _servers(directory)
    paths = await in_db(problems.troubled, project.id, CHECKED) if servers else []
    worktree = Path(project.worktree)
    await asyncio.gather(*(service.touch(directory, worktree / path, wait=CHECK_SECONDS) for path in paths))
    return await _listing(request.POST, project, servers, await current(project, servers))


async def _listing(
    query: QueryDict, project: Project, servers: Collection[str], files: list[FileNow]
) -> HttpResponse:
    return fragment(
        "problems/list.html",
        on=bool(servers),
        panel=panel(files),
        project=project,
        session=query.get("session", ""),
    )


async def _servers(directory: Path) -> set[str]:
    """The ids of those that may run; none where they are off."""
    config = (await asyncio.to_thread(load, directory)).config
    return {row.id for row in rows(config)}

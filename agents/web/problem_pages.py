"""The problems of a project's files, for its session's page: how many in the header, and the panel of all."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from agents.config.configuration import load
from agents.servers.lsp.matrix import rows
from agents.servers.lsp.service import service
from sessions.core.db import in_db
from sessions.core.models import Project
from sessions.core.models.ledger import unpack_path
from sessions.core.store import problems, projects
from sessions.web.access import Located, located
from sessions.web.problems.current import FileNow, content_now, current
from sessions.web.problems.panel import excerpt, panel
from sessions.web.respond import fragment
from sessions.web.roots import Root, root_of, roots

CHECKED = 20
"""Files that one press of the button has checked again."""
CHECK_SECONDS = 10.0


@require_GET
async def count(request: HttpRequest) -> HttpResponse:
    """The button of the header; hidden while there is nothing, and where language servers are off."""
    servers, files = await found(await located(request.GET))
    return fragment("problems/button.html", on=servers, panel=panel(files))


@require_GET
async def listing(request: HttpRequest) -> HttpResponse:
    return await _listing(request.GET)


@require_GET
async def lines(request: HttpRequest) -> HttpResponse:
    """The lines of `?path=` around `?line=` (from 1), as the file is now."""
    place = await located(request.GET)
    path, line = unpack_path(request.GET.get("path", "")), request.GET.get("line", "")
    root = await asyncio.to_thread(root_of, place.project, place.session, path)
    content = await asyncio.to_thread(content_now, root.path, root.inner(path)) if path else None
    if content is None or not (line.isdecimal() and len(line) < 9):
        raise Http404(gettext("This file is no longer there."))
    shown = excerpt(content, int(line))
    return fragment("problems/lines.html", lines=shown, path=path, line=line)


@require_POST
async def check(request: HttpRequest) -> HttpResponse:
    """Have the servers look at the files again that have, or had, problems."""
    for looked in await _looked_at(await located(request.POST)):
        paths = await in_db(problems.troubled, looked.project.id, CHECKED) if looked.servers else []
        files = (looked.root.path / path for path in paths)
        await asyncio.gather(*(service.touch(looked.directory, file, wait=CHECK_SECONDS) for file in files))
    return await _listing(request.POST)


async def _listing(query: QueryDict) -> HttpResponse:
    place = await located(query)
    servers, files = await found(place)
    return fragment(
        "problems/list.html",
        on=servers,
        panel=panel(files),
        project=place.project,
        session=query.get("session", ""),
    )


@dataclass(frozen=True, slots=True)
class Looked:
    """A root that servers look at: `servers` are the ids of those that may run, none where they are off, by
    the configuration of `directory`."""

    root: Root
    project: Project
    directory: Path
    servers: set[str]


async def found(place: Located) -> tuple[bool, list[FileNow]]:
    """Whether there are servers, and the files with problems, as seen from the session."""
    every = await _looked_at(place)
    found = [
        replace(file, path=looked.root.seen(file.path))
        for looked in every
        if looked.servers
        for file in await current(looked.project, looked.servers)
    ]
    return any(looked.servers for looked in every), found


async def _looked_at(place: Located) -> list[Looked]:
    """The session's project, and the folders beside it that may be written and are projects."""
    home, *others = await asyncio.to_thread(roots, place.project, place.session)
    found = [Looked(home, place.project, place.directory, await _servers(place.directory))]
    for root in others:
        project = None if root.locked else await in_db(projects.at, root.path)
        if project is not None:
            found.append(Looked(root, project, root.path, await _servers(root.path)))
    return found


async def _servers(directory: Path) -> set[str]:
    config = (await asyncio.to_thread(load, directory)).config
    return {row.id for row in rows(config)}

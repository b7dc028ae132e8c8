"""The folders beside the project that a session may read, or write: a dialog to list, add and remove them."""

from __future__ import annotations

import asyncio
from pathlib import Path

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from agents.config.configuration import load
from agents.toolkit.folders import folders_of
from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.paths import access
from sessions.core.store import added_folders
from sessions.core.store import sessions as session_store
from sessions.web.access import Located, located
from sessions.web.respond import beside, fragment, toast


@require_GET
async def dialog(request: HttpRequest) -> HttpResponse:
    """Of a session; of a project those that its configuration names."""
    return await _shown("pickers/folders.html", await located(request.GET))


@require_POST
async def add(request: HttpRequest) -> HttpResponse:
    """`path`, from the session's folder; with `write`, or `:rw` at its end, to be written too. Gives the list
    to the dialog, to others a note."""
    session = await _session(request.POST)
    in_dialog = request.headers.get("HX-Target") == "folders"
    directory, root = Path(session.directory), Path(session.project.worktree)
    given, write = access(request.POST.get("path", ""))
    write = write or "write" in request.POST
    try:
        path = await asyncio.to_thread(added_folders.checked, given, directory, root, write=write)
        row = await in_db(added_folders.add, session, path, write=write)
    except added_folders.Refused as problem:
        return beside("folders" if in_dialog else "composer", str(problem))
    session = row or session
    if in_dialog:
        return await _shown("pickers/folders_list.html", _place(session))
    name = next(folder.name for folder in added_folders.of(session) if folder.path == path)
    written = gettext(
        "Added %(name)s (%(path)s), to be read and written; undo covers it. @%(name)s/ mentions its files."
    )
    read = gettext(
        "Added %(name)s (%(path)s), for reading only: nothing is written there. "
        "@%(name)s/ mentions its files."
    )
    return toast((written if write else read) % {"name": name, "path": path})


@require_POST
async def remove(request: HttpRequest) -> HttpResponse:
    """The one called `name`."""
    session = await _session(request.POST)
    row = await in_db(added_folders.remove, session, request.POST.get("name", ""))
    return await _shown("pickers/folders_list.html", _place(row or session))


async def _session(given: QueryDict) -> Session:
    """Raises Http404."""
    session = await in_db(session_store.get, given.get("session", ""))
    if session is None:
        raise Http404(gettext("The session is gone."))
    return session


def _place(session: Session) -> Located:
    return Located(Path(session.directory), session, session.project)


async def _shown(template: str, place: Located) -> HttpResponse:
    config = (await asyncio.to_thread(load, place.directory)).config
    root = Path(place.project.worktree)
    found = await asyncio.to_thread(folders_of, place.session, config, place.directory, root)
    return fragment(template, session=place.session, folders=found)

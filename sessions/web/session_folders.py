"""Folders of the list of sessions: made, changed, folded, removed; sessions put into them, and in order."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST

from sessions.core.db import in_db
from sessions.core.models import Label, Project, SessionFolder
from sessions.core.store import session_folders
from sessions.core.store import sessions as session_store
from sessions.web.access import find_sessions, project_of
from sessions.web.respond import beside, done, fragment

NEW = "new"
PINNED = "pinned"
_BOTH = require_http_methods(["GET", "HEAD", "POST"])


@_BOTH
async def choose(request: HttpRequest, project_id: str) -> HttpResponse:
    """GET the dialog for each `session`; without one it makes an empty folder. POST puts them into a `folder`
    (empty: none), or into a `new` one with a `name` and a `colour`."""
    project = await project_of(project_id)
    given = request.POST if request.method == "POST" else request.GET
    rows = await in_db(find_sessions, project.id, given.getlist("session"))
    if request.method != "POST":
        return fragment(
            "session_folders/dialog.html",
            project=project,
            sessions=rows,
            folders=await in_db(session_folders.of_project, project.id),
            current={row.session_folder_id or "" for row in rows},
            colours=Label.Colour.choices,
        )
    ids, folder = [row.id for row in rows], given.get("folder", NEW)
    try:
        await in_db(_choose, project, ids, folder, given.get("name", ""), given.get("colour", ""))
    except session_folders.Refused as problem:
        return beside("session-folders", str(problem))
    return done()


@transaction.atomic
def _choose(project: Project, ids: Sequence[str], folder: str, name: str, colour: str) -> None:
    row = session_folders.make(project.id, name, colour) if folder == NEW else _folder(project.id, folder)
    session_folders.put(ids, row)
    for session_id in ids if row else ():
        session_store.pin(session_id, False)


@_BOTH
async def change(request: HttpRequest, project_id: str, folder_id: str) -> HttpResponse:
    """GET the dialog, POST gives a `name` and a `colour`."""
    row = await in_db(_known, project_id, folder_id)
    if request.method != "POST":
        return fragment("session_folders/change.html", folder=row, colours=Label.Colour.choices)
    try:
        given = request.POST
        await in_db(session_folders.change, row, given.get("name", ""), given.get("colour", ""))
    except session_folders.Refused as problem:
        return beside("session-folders", str(problem))
    return done()


@require_POST
async def fold(request: HttpRequest, project_id: str, folder_id: str) -> HttpResponse:
    """Fold a folder, or unfold it."""
    row = await in_db(_known, project_id, folder_id)
    await in_db(session_folders.fold, row, not row.folded)
    return done()


@require_POST
async def remove(request: HttpRequest, project_id: str, folder_id: str) -> HttpResponse:
    """The folder alone: its sessions are listed by their days again."""
    await in_db(session_folders.remove, await in_db(_known, project_id, folder_id))
    return done()


@require_POST
async def place(request: HttpRequest, project_id: str) -> HttpResponse:
    """Move a `session` to a `place` (`pinned`, a folder, or empty: by its days), or leave it in its own;
    `order` is that of all in it."""
    form = request.POST
    rows = await in_db(find_sessions, project_id, form.getlist("session"))
    order = await in_db(find_sessions, project_id, form.getlist("order"))
    known = {row.id for row in order}
    ids = [session_id for session_id in form.getlist("order") if session_id in known]
    await in_db(_place, project_id, [row.id for row in rows], form.get("place"), ids)
    return done()


@transaction.atomic
def _place(project_id: str, ids: Sequence[str], place: str | None, order: Sequence[str]) -> None:
    if place is not None and place != PINNED:
        session_folders.put(ids, _folder(project_id, place))
    if place is not None:
        for session_id in ids:
            session_store.pin(session_id, place == PINNED)
    session_folders.arrange(order)


def _folder(project_id: str, folder_id: str) -> SessionFolder | None:
    return _known(project_id, folder_id) if folder_id else None


def _known(project_id: str, folder_id: str) -> SessionFolder:
    row = session_folders.get(project_id, folder_id)
    if row is None:
        raise Http404(gettext("This folder is gone."))
    return row

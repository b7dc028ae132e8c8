"""Move a session to a git worktree: what would go along is shown first."""

from __future__ import annotations

import json

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

from sessions.changes.roots import beside
from sessions.changes.worktrees import moving
from sessions.changes.worktrees.making import CannotFork
from sessions.changes.worktrees.moving import Moved
from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.models.ledger import shown
from sessions.core.principal import actor
from sessions.terminals.lines import start_up
from sessions.web.access import session_of
from sessions.web.respond import fragment, redirect, refused

_LONGEST = 200


@require_http_methods(["GET", "HEAD", "POST"])
async def move(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """GET the dialog. POST moves: to a worktree of a `name`, `files` of all or the session's `own`, with
    `keep` as a copy."""
    session = await session_of(project_id, session_id)
    if request.method != "POST":
        return await _dialog(session)
    form = request.POST
    try:
        moved = await moving.move(
            session,
            name=form.get("name", "")[:_LONGEST],
            which="own" if form.get("files") == "own" else "all",
            keep="keep" in form,
            actor=actor(request),
        )
    except CannotFork as problem:
        return refused(str(problem))
    await start_up(moved.session.project_id, moved.session.directory)
    return _to(moved, project_id)


async def _dialog(session: Session) -> HttpResponse:
    now = await moving.preview(session)
    found = now.found
    files = found.files if found else ()
    return fragment(
        "fork/move.html",
        session=session,
        base=session.get_absolute_url(),
        refusal=now.refusal,
        found=found,
        own=[file for file in files if file.own],
        others=[file for file in files if not file.own],
        ignored=[shown(path) for path in found.ignored] if found else (),
        beside=await in_db(beside, session),
        left_out=[shown(path) for path in found.left_out] if found else (),
    )


def _to(moved: Moved, project_id: str) -> HttpResponse:
    """To where it is now, at once or by way of what is still in the original folder."""
    session = moved.session
    if moved.left or moved.staged:
        url = session.get_absolute_url()
        response = fragment("fork/moved.html", left=moved.left, staged=moved.staged, url=url)
    else:
        response = redirect(session.get_absolute_url())
    told = {"from": project_id, "project": session.project_id, "session": session.id}
    response["HX-Trigger"] = json.dumps({"session:moved": told})
    return response

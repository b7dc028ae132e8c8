"""Fork a session: from a message or at its end, the conversation only or with files in a git worktree."""

from __future__ import annotations

import json

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods

from sessions.changes.roots import beside
from sessions.changes.worktrees import forking
from sessions.changes.worktrees.forking import CannotFork, Forked
from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.store import forks, messages, turns
from sessions.terminals.lines import start_up
from sessions.web.access import session_of
from sessions.web.respond import fragment, redirect, refused
from sessions.web.review.display.undoing import described

_DRAFT = 64 * 1024
_TAKEN_BACK = ("restore", "merge", "already", "missing")


@require_http_methods(["GET", "HEAD", "POST"])
async def fork(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """GET the dialog (`?before=` or `?after=` a message; at the end without), POST forks."""
    session = await session_of(project_id, session_id)
    if request.method == "POST":
        return await _fork(session, request.POST)
    before = await _before(session, request.GET)
    text = await in_db(_prompt, session.id, before) if request.GET.get("before") else ""
    return fragment(
        "fork/dialog.html", base=session.get_absolute_url(), before=before, text=text, draft=text[:_DRAFT]
    )


@require_GET
async def files(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """`?before=`: what becomes of the files in a worktree, or why there can be none."""
    session = await session_of(project_id, session_id)
    before = await _before(session, request.GET)
    shown = await forking.preview(session, before)
    return fragment(
        "fork/files.html",
        before=before,
        files=[described(plan) for plan in shown.files],
        left_out=shown.left_out,
        beside=await in_db(beside, session),
        refusal=shown.refusal,
        problem=shown.problem,
    )


async def _fork(session: Session, form: QueryDict) -> HttpResponse:
    before = await _before(session, form)
    if form.get("with") != "files":
        return _to(await forking.fork(session, before))
    try:
        forked = await forking.fork_with_files(session, before)
    except CannotFork as problem:
        return refused(str(problem))
    await start_up(forked.session.project_id, forked.session.directory)
    return _made(forked)


def _made(forked: Forked) -> HttpResponse:
    """To the fork at once, or by way of what could not be brought to how it was."""
    left = [described(plan) for plan in forked.files if plan.outcome not in _TAKEN_BACK]
    if not left and not forked.left_out:
        return _to(forked.session)
    shown = fragment(
        "fork/made.html", files=left, left_out=forked.left_out, url=forked.session.get_absolute_url()
    )
    return _told(shown, forked.session)


def _to(session: Session) -> HttpResponse:
    return _told(redirect(session.get_absolute_url()), session)


def _told(response: HttpResponse, session: Session) -> HttpResponse:
    """The page puts the text of a prompt that is to be changed where the fork's own page finds it."""
    made = {"project": session.project_id, "session": session.id}
    response["HX-Trigger"] = json.dumps({"fork:made": made})
    return response


async def _before(session: Session, asked: QueryDict) -> str:
    """The message that a fork ends before; empty for the end."""
    if after := asked.get("after", ""):
        found = await in_db(forks.end_of, session.id, after)
        if found is None:
            raise Http404(gettext("This message is not part of the session."))
        return found
    before = asked.get("before", "")
    if before and await in_db(messages.message, session.id, before) is None:
        raise Http404(gettext("This message is not part of the session."))
    return before


def _prompt(session_id: str, message_id: str) -> str:
    return turns.from_prompt(session_id, message_id)[1]

"""What a person does to a session: prompt, stop, rename, archive, delete and take it back."""

from __future__ import annotations

from contextlib import suppress

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.views.decorators.http import require_POST

from sessions import actions
from sessions.db import in_db
from sessions.models import Session
from sessions.rendering import states
from sessions.sharing.sharing import share_new
from sessions.store import inbox, staging
from sessions.store import sessions as session_store
from sessions.store.resumption import NothingToResume
from sessions.wire.session import SessionModel

from .access import find_hidden, project_of, session_of
from .conversation import new
from .prompts import BadPrompt, choice_of, parts_of
from .respond import done, fragment, redirect, refused, toast


async def collection(request: HttpRequest, project_id: str) -> HttpResponse:
    """`/p/<project>/s/`: GET the page for a new session, POST creates one."""
    if request.method == "POST":
        return await _create(request, project_id)
    if request.method in ("GET", "HEAD"):
        return await new(request, project_id)
    return HttpResponseNotAllowed(["GET", "POST"])


async def _create(request: HttpRequest, project_id: str) -> HttpResponse:
    """With a prompt, or an empty one for a request without `text`."""
    project = await project_of(project_id)
    try:
        parts = parts_of(request.POST) if "text" in request.POST else []
        choice = choice_of(request.POST)
    except BadPrompt as problem:
        return refused(str(problem))
    session = await in_db(
        session_store.create, project, project.worktree, agent=choice["agent"], model=_model(choice)
    )
    await share_new(request, session.id, session.directory)
    if parts:
        await actions.prompt(session, parts, **choice)
    return redirect(f"/p/{project.id}/s/{session.id}")


def _model(choice: dict[str, str]) -> SessionModel | None:
    """The page of a new session is there before its first prompt is promoted, and shows the same choice."""
    if "model_id" not in choice:
        return None
    return SessionModel(
        id=choice["model_id"], provider_id=choice["provider_id"], variant=choice["variant"] or None
    )


@require_POST
async def prompt(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    session = await session_of(project_id, session_id)
    try:
        parts = parts_of(request.POST)
        await actions.prompt(session, parts, **choice_of(request.POST))
    except (BadPrompt, inbox.PromptRefused) as problem:
        return refused(str(problem))
    return done(prompted=session.id)


@require_POST
async def abort(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    session = await session_of(project_id, session_id)
    await actions.abort(session.id)
    return done()


@require_POST
async def resume(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """Go on with the turn that was cut off; in another window it may go on already."""
    session = await session_of(project_id, session_id)
    with suppress(NothingToResume):
        await actions.resume(session.id)
    return done()


async def rename(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """GET the field in place of the title, POST the new title; both give the row of the sidebar."""
    session = await session_of(project_id, session_id)
    if request.method == "POST":
        await in_db(session_store.rename, session.id, request.POST.get("title", ""))
        return await _item(session)
    if "cancel" in request.GET:
        return await _item(session)
    return fragment("sidebar/rename.html", session=session)


@require_POST
async def archive(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    session = await session_of(project_id, session_id)
    await in_db(session_store.archive, session.id)
    return _gone(session, "archived")


@require_POST
async def delete(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    session = await session_of(project_id, session_id)
    staged = 0 if session.parent_id else len(await in_db(staging.files, session))
    await actions.delete(session.id)
    return _gone(session, "deleted", staged)


@require_POST
async def restore(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """Back from the archive or from deletion."""
    session = await in_db(find_hidden, project_id, session_id)
    if session is None:
        raise Http404("This session was deleted for good.")
    if session.time_deleted is not None:
        await in_db(session_store.restore, session.id)
    if session.time_archived is not None:
        await in_db(session_store.archive, session.id, False)
    return redirect(f"/p/{session.project_id}/s/{session.id}")


async def _item(session: Session) -> HttpResponse:
    html = await in_db(states.sidebar_item, session.id, current=session.id, oob=False)
    return HttpResponse(html)


def _gone(session: Session, what: str, staged: int = 0) -> HttpResponse:
    """`staged` files wait in it for a verdict."""
    undo = f"/p/{session.project_id}/s/{session.id}/restore"
    text = f"“{session.title}” was {what}."
    if staged:
        files = "1 staged file is" if staged == 1 else f"{staged} staged files are"
        text = f"{text} {files} kept with it; Undo brings {'it' if staged == 1 else 'them'} back."
    return toast(text, undo=undo, gone=session.id)

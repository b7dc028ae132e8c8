"""What a person does to a session: prompt, stop, rename, pin, archive, delete and take it back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, cast, get_args
from urllib.parse import urlsplit

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.urls import reverse
from django.utils.translation import gettext, ngettext
from django.utils.translation.trans_null import gettext_noop
from django.views.decorators.http import require_GET, require_POST

from sessions.changes import actions
from sessions.core import wake
from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.principal import acting, actor
from sessions.core.sharing import share_new
from sessions.core.store import inbox, presets, staging, todos
from sessions.core.store import sessions as session_store
from sessions.core.store.family import topmost
from sessions.core.store.resumption import NothingToResume
from sessions.core.wire.session import Preset, SessionModel
from sessions.web.access import find_hidden, is_here, project_of, session_of
from sessions.web.live import states
from sessions.web.live.presence import presence
from sessions.web.respond import done, fragment, late, redirect, refused, toast
from sessions.web.sharing import is_shareable

from .conversation import new
from .prompts import BadPrompt, choice_of, parts_of

View = Callable[..., Coroutine[Any, Any, HttpResponse]]


async def collection(request: HttpRequest, project_id: str) -> HttpResponse:
    """`/p/<project>/s/`: GET the page for a new session, POST creates one."""
    if request.method == "POST":
        return await _create(request, project_id)
    if request.method in ("GET", "HEAD"):
        return await new(request, project_id)
    return HttpResponseNotAllowed(["GET", "POST"])


async def _create(request: HttpRequest, project_id: str) -> HttpResponse:
    """With a prompt, or an empty one for a request without `text`; one for all that a prompt is sent."""
    project = await project_of(project_id)
    try:
        parts = parts_of(request.POST) if "text" in request.POST else []
        choice = choice_of(request.POST)
    except BadPrompt as problem:
        return refused(str(problem))
    if known := await in_db(inbox.session_of, choice.get("message_id", ""), project.id):
        return redirect(known.get_absolute_url())
    session = await in_db(
        session_store.create, project, project.worktree, agent=choice["agent"], model=_model(choice)
    )
    if (preset := request.POST.get("preset", "")) in get_args(Preset):
        await in_db(presets.switch, session, cast("Preset", preset), actor(request))
    await share_new(request, session)
    if parts:
        await actions.prompt(session, parts, **choice)
    return redirect(session.get_absolute_url())


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
    presence.stops(session, acting.get())
    return done(prompted=session.id)


def _on_session(act: Callable[[str], Awaitable[object]]) -> View:
    """A view that does one thing to a session, by its id, and has nothing to say about it."""

    @require_POST
    async def view(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
        session = await session_of(project_id, session_id)
        await act(session.id)
        return done()

    return view


@require_POST
async def resume(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """Go on with the turn that was cut off, with another `model` where one is posted; in another window it
    may go on already."""
    session = await session_of(project_id, session_id)
    provider_id, _, model_id = request.POST.get("model", "").partition("/")
    if provider_id and model_id:
        chosen = {"provider_id": provider_id, "model_id": model_id, "variant": ""}
        await in_db(session_store.update, session.id, **chosen)
    with suppress(NothingToResume):
        await actions.resume(session.id)
    return done()


abort = _on_session(actions.abort)
hasten = _on_session(wake.hasten)


@require_POST
async def dismiss_todos(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    session = await session_of(project_id, session_id)
    await in_db(todos.cancel, session)
    return done()


@require_GET
async def menu(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """All that can be done with a session."""
    session = await session_of(project_id, session_id)
    return fragment(
        "sidebar/menu.html",
        session=session,
        here=is_here(request),
        shareable=await asyncio.to_thread(is_shareable, session),
    )


async def rename(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """GET the field in place of the title, POST the new title; both give what is asked for: the head of the
    page or the row of the sidebar."""
    session = await session_of(project_id, session_id)
    in_head = request.headers.get("HX-Target") == "title"
    if request.method == "GET" and "cancel" not in request.GET:
        return fragment("conversation/rename.html" if in_head else "sidebar/rename.html", session=session)
    if request.method == "POST":
        title = request.POST.get("title", "").strip()
        if not title:
            return late(gettext("A session needs a title."))
        renamed = await in_db(session_store.rename, session.id, title)
        session = renamed or session
    if in_head:
        return HttpResponse(states.head(session, oob=False, focus=True))
    return await _item(request, session)


@require_POST
async def writes(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """That its person writes in the session, with `on` 1, or no longer."""
    session = await session_of(project_id, session_id)
    if name := acting.get():
        (presence.writes if request.POST.get("on") == "1" else presence.stops)(session, name)
    return done()


@require_POST
async def read(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    session = await session_of(project_id, session_id)
    await in_db(session_store.read, session.id)
    return done()


@require_POST
async def pin(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """Pin it, or the one that the list shows for it, with `on` 1, no longer with 0; without, the other way
    than now."""
    session = await in_db(topmost, await session_of(project_id, session_id))
    on = request.POST.get("on", "0" if session.time_pinned else "1") == "1"
    await in_db(session_store.pin, session.id, on)
    return done()


@require_POST
async def archive(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    session = await session_of(project_id, session_id)
    await in_db(session_store.archive, session.id)
    return _gone(session, gettext_noop("“%(title)s” was archived."))


@require_POST
async def delete(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    session = await session_of(project_id, session_id)
    staged = 0 if session.parent_id else len(await in_db(staging.files, session))
    await actions.delete(session.id)
    return _gone(session, gettext_noop("“%(title)s” was deleted."), staged)


@require_POST
async def restore(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """Back from the archive or from deletion."""
    session = await in_db(find_hidden, project_id, session_id)
    if session is None:
        raise Http404(gettext("This session was deleted for good."))
    if session.time_deleted is not None:
        await in_db(session_store.restore, session.id)
    if session.time_archived is not None:
        await in_db(session_store.archive, session.id, False)
    return redirect(session.get_absolute_url())


async def _item(request: HttpRequest, session: Session) -> HttpResponse:
    current = urlsplit(request.headers.get("HX-Current-URL", "")).path.rpartition("/")[2]
    html = await in_db(states.sidebar_item, session.id, session.project_id, current=current, oob=False)
    return HttpResponse(html)


def _gone(session: Session, what: str, staged: int = 0) -> HttpResponse:
    """`staged` files wait in it for a verdict."""
    undo = reverse("restore-session", args=(session.project_id, session.id))
    text = gettext(what) % {"title": session.title}
    if staged:
        words = ngettext(
            "%(text)s %(count)s staged file is kept with it; Undo brings it back.",
            "%(text)s %(count)s staged files are kept with it; Undo brings them back.",
            staged,
        )
        text = words % {"text": text, "count": staged}
    return toast(text, undo=undo, gone=session.id)

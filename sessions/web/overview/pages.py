"""The overview's parts that are asked for by themselves, saved views, and a chat without a project."""

from __future__ import annotations

import asyncio
import secrets
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from sessions.core.db import in_db
from sessions.core.models import Project
from sessions.core.principal import person_of, sees
from sessions.core.roles import Person
from sessions.core.store import projects, searches
from sessions.web.overview import board
from sessions.web.respond import fragment, redirect, refused


@require_GET
async def overview(request: HttpRequest) -> HttpResponse:
    """The board, filtered (`board.FIELDS`); with `before`, a cursor, only older idle sessions."""
    shown, person = board.Filter.of(request.GET.dict()), person_of(request)
    before = request.GET.get("before", "")
    older = int(before) if before.isdecimal() and len(before) < 19 else 0
    found = await in_db(board.read, shown, person, older)
    if older:
        return HttpResponse(await asyncio.to_thread(board.more, found, shown))
    response = HttpResponse(await asyncio.to_thread(board.board, found, shown))
    query = f"&{shown.query}" if shown.query else ""
    response["HX-Replace-Url"] = f"{reverse('home')}?choose{query}"
    return response


async def context_of(request: HttpRequest) -> dict[str, Any]:
    """What the page shows beside the projects that can be opened."""
    shown, person = board.Filter.of(request.GET.dict()), person_of(request)
    found, offered = await in_db(lambda: (board.read(shown, person), _choices(person)))
    return {
        **offered,
        "board": await asyncio.to_thread(board.board, found, shown),
        "shown": shown,
        "has_sessions": bool(found.lines or shown.query),
        **await in_db(_saved, shown.query),
    }


def _choices(person: Person | None) -> dict[str, Any]:
    return board.choices([one for one in Project.objects.all() if sees(person, one.id)])


@require_POST
async def save_view(request: HttpRequest) -> HttpResponse:
    """Keep the filter (`board.FIELDS`), to be had again by a press; `forget` no longer keeps that one."""
    query = board.Filter.of(request.POST.dict()).query
    if "forget" in request.POST:
        await in_db(searches.forget_view, request.POST["forget"])
    elif query and len(query) <= 500:
        await in_db(searches.keep_view, query)
    return fragment("overview/views.html", **await in_db(_saved, query))


@require_GET
async def views(request: HttpRequest) -> HttpResponse:
    """The saved views, beside the filter as it is now."""
    return fragment("overview/views.html", **await in_db(_saved, board.Filter.of(request.GET.dict()).query))


def _saved(query: str) -> dict[str, Any]:
    saved = searches.views()
    names = dict(Project.objects.values_list("id", "name")) if saved else {}
    shown = [(one, board.view_words(dict(parse_qsl(one)), names)) for one in saved]
    return {"views": shown, "query": query, "keeps": bool(query) and query not in saved}


@require_POST
async def new_chat(request: HttpRequest) -> HttpResponse:
    """A session without a project: in an empty folder of its own; one that nobody used is taken first."""
    try:
        project = await in_db(lambda: _unused() or projects.open_project(_empty()))
    except OSError as error:
        return refused(
            gettext("This folder cannot be opened: %(error)s") % {"error": error.strerror or error}
        )
    return redirect(reverse("new-session", args=(project.id,)))


def chats() -> Path:
    """Where the folders of chats are: beside the server's own data, which no agent may reach."""
    data = Path(settings.DATA_DIR)
    return data.with_name(f"{data.name}-chats")


def _unused() -> Project | None:
    rows = Project.objects.filter(worktree__startswith=f"{chats().resolve()}/", sessions=None)
    return next((row for row in rows if _is_empty(Path(row.worktree))), None)


def _is_empty(folder: Path) -> bool:
    return folder.is_dir() and not any(folder.iterdir())


def _empty() -> Path:
    folder = chats() / f"chat-{date.today().isoformat()}-{secrets.token_hex(2)}"
    folder.mkdir(parents=True, mode=0o700)
    return folder

"""`/import`: what OpenCode has on this machine, the choice, and how far the import is."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from sessions.core.sentences import message_of
from sessions.transfer import background
from sessions.transfer.job import Busy, CannotWrite, Job, in_words
from sessions.transfer.plan import Choice, Surveyed, counts, plan, survey
from sessions.transfer.reading import find
from sessions.transfer.reading.records import Source, Unreadable
from sessions.web.respond import fragment, page, refused

SHOWN = 50
"""Projects that can be chosen one by one; the rest comes with everything."""


@require_GET
async def start(request: HttpRequest) -> HttpResponse:
    """The page; an import that runs or has ended is on it, also after a reload."""
    return await page(request, "transfer/import.html", **await asyncio.to_thread(_state))


@require_GET
async def found(request: HttpRequest) -> HttpResponse:
    """What is at `?path=`, else in OpenCode's usual places."""
    path = request.GET.get("path", "").strip()
    try:
        surveyed = await asyncio.to_thread(_survey, path)
    except Unreadable as problem:
        return refused(message_of(problem))
    shown = [{"one": one, "counts": counts(one), "projects": one.projects()[:SHOWN]} for one in surveyed]
    return fragment("transfer/found.html", shown=shown, path=path, any=any(one.headers for one in surveyed))


@require_POST
async def begin(request: HttpRequest) -> HttpResponse:
    """With `project` for each folder that is wanted, and `copies` where the other side of a session that was
    continued in both places is to be put beside it."""
    wanted = frozenset(request.POST.getlist("project"))
    if not wanted:
        return refused(gettext("Choose at least one project."))
    try:
        surveyed = await asyncio.to_thread(_survey, request.POST.get("path", ""))
        choice = _choice(surveyed, wanted)
        if not plan(surveyed, choice):
            return refused(gettext("There is no session in what was chosen."))
        await background.begin(surveyed, choice, copies="copies" in request.POST)
    except (Unreadable, CannotWrite) as problem:
        return refused(message_of(problem))
    except Busy:
        pass  # its progress is what is shown
    return fragment("transfer/progress.html", **await asyncio.to_thread(_state))


@require_GET
async def progress(request: HttpRequest) -> HttpResponse:
    return fragment("transfer/progress.html", **await asyncio.to_thread(_state))


@require_POST
async def cancel(request: HttpRequest) -> HttpResponse:
    """It stops after the session it is at; what is imported stays."""
    await asyncio.to_thread(Job().cancel)
    return fragment("transfer/progress.html", **await asyncio.to_thread(_state))


@require_POST
async def again(request: HttpRequest) -> HttpResponse:
    """Put the result of the last one away."""
    if not await asyncio.to_thread(Job().runs):
        await asyncio.to_thread(Job().forget)
    return fragment("transfer/choose.html")


def _choice(surveyed: Sequence[Surveyed], wanted: frozenset[str]) -> Choice:
    """All that were shown stand for everything."""
    shown = {folder for one in surveyed for folder, _ in one.projects()[:SHOWN]}
    return Choice() if shown <= wanted else Choice(folders=wanted)


def _survey(path: str) -> list[Surveyed]:
    """Raises Unreadable."""
    return survey(_sources(path))


def _sources(path: str) -> list[Source]:
    if not path:
        return find.found()
    given = Path(path).expanduser()
    if "\0" in path or not given.is_absolute():
        raise Unreadable(gettext("Give the whole path, beginning with / or ~."))
    return find.sources(given)


def _state() -> dict[str, Any]:
    state, runs = background.state()
    return {
        "progress": state,
        "runs": runs,
        "words": in_words(state) if state else [],
        "cancelling": runs and Job().cancelled(),
    }

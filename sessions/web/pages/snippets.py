"""Snippets: the settings page of them, the dialog that makes one of the prompt, and what `;` completes."""

from __future__ import annotations

import asyncio
from pathlib import Path

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from sessions.changes import vcs
from sessions.core.db import in_db
from sessions.core.store import snippets
from sessions.web.access import located, project_of
from sessions.web.respond import beside, fragment, late, page, removed, toast

MOST_SHOWN = 12
BRANCH = "${branch}"


@require_GET
async def show(request: HttpRequest) -> HttpResponse:
    """`?project=` is where the way back leads."""
    back = request.GET.get("project", "")
    project = await project_of(back) if back else None
    return await page(request, "snippets/page.html", project=project, snippets=await in_db(snippets.named))


@require_GET
async def dialog(_: HttpRequest) -> HttpResponse:
    """For the name of a new one; its text is the prompt's (static/js/snippets.js)."""
    return fragment("snippets/dialog.html")


@require_POST
async def save(request: HttpRequest) -> HttpResponse:
    """`name` and `text`, in the place of the one called `before` where that is given. Gives the list to the
    settings page, else a note."""
    name, before = request.POST.get("name", "").strip().removeprefix(";"), request.POST.get("before", "")
    text = request.POST.get("text", "").replace("\r\n", "\n")  # as forms encode line breaks
    try:
        await in_db(snippets.save, name, text, before=before)
    except snippets.Refused as problem:
        return beside(f"snippet-{before}" if before else "snippet", str(problem))
    if request.headers.get("HX-Target") == "toasts":
        return toast(gettext("Saved: type ;%(name)s in the prompt.") % {"name": name})
    return await _list()


@require_POST
async def remove(request: HttpRequest) -> HttpResponse:
    """The one called `before`, as its form says; a toast brings it back."""
    row = await in_db(snippets.remove, request.POST.get("before", ""))
    if row is None:
        return await _list()
    values = {"name": row.name, "text": row.text}
    left = await in_db(snippets.named)
    return removed("snippets/list.html", f";{row.name}", reverse("restore-snippet"), values, snippets=left)


@require_POST
async def restore(request: HttpRequest) -> HttpResponse:
    """One that was removed (`name`, `text`); the list is renewed."""
    try:
        await in_db(snippets.save, request.POST.get("name", ""), request.POST.get("text", ""))
    except snippets.Refused as problem:
        return late(str(problem))
    return await _list(oob=True)


async def _list(*, oob: bool = False) -> HttpResponse:
    return fragment("snippets/list.html", snippets=await in_db(snippets.named), oob=oob)


@require_GET
async def options(request: HttpRequest) -> HttpResponse:
    """Those that `?q=` means, as options of the composer, with what only the server knows put in."""
    place = await located(request.GET)
    found = (await in_db(snippets.named, request.GET.get("q", "")))[:MOST_SHOWN]
    if any(BRANCH in row.text for row in found):
        branch = await asyncio.to_thread(_branch, place.directory)
        for row in found:
            row.text = row.text.replace(BRANCH, branch)
    return fragment("composer/options.html", snippets=found)


def _branch(directory: Path) -> str:
    """Of the folder; empty where there is none."""
    try:
        return vcs.current(vcs.Checkout(directory))
    except vcs.GitError:
        return ""

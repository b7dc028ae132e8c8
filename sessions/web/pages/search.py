"""The search over conversations: a page of its own, for all projects or for one."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.store import index, projects, searches
from sessions.rendering.periods import zone_of
from sessions.search import within as finding
from sessions.search.completions import completions
from sessions.search.hits import NEWEST, Group, Hit, find
from sessions.search.query import parse
from sessions.web.access import session_of
from sessions.web.respond import fragment, page

LONGEST = 500
"""Characters of a search that is kept."""


@require_GET
async def search(request: HttpRequest) -> HttpResponse:
    """`?q=` is what is looked for, `project` where it was asked and `before` the cursor of older hits. Asked
    by htmx, only what is found, and as an address that can be kept."""
    text, here = request.GET.get("q", ""), request.GET.get("project", "")
    before = request.GET.get("before", "")
    shown = await in_db(_found, text, here, int(before) if before.isdecimal() else NEWEST, _now(request))
    if not request.headers.get("HX-Request"):
        return await page(request, "search/page.html", **shown)
    if before:
        return fragment("search/more.html", **shown)
    response = fragment("search/answer.html", **shown)
    response["HX-Replace-Url"] = f"{reverse('search')}?{urlencode({'q': text, 'project': here})}"
    return response


@require_GET
async def progress(request: HttpRequest) -> HttpResponse:
    """How far the index is; nothing when it has all, and what was looked for is looked for once more."""
    how_far = await in_db(_progress)
    response = fragment("search/progress.html", progress=how_far)
    if how_far is None:
        response["HX-Trigger"] = "index:whole"
    return response


@require_POST
async def save(request: HttpRequest) -> HttpResponse:
    """Keep `q`, to be had again by a press."""
    text = request.POST.get("q", "").strip()
    if text and not parse(text, _now(request)).is_empty:
        await in_db(searches.keep, text[:LONGEST])
    return await _saved(request)


@require_POST
async def forget(request: HttpRequest) -> HttpResponse:
    """No longer keep the search `text`."""
    await in_db(searches.forget, request.POST.get("text", ""))
    return await _saved(request)


async def _saved(request: HttpRequest) -> HttpResponse:
    text, project = request.POST.get("q", "").strip(), request.POST.get("project", "")
    saved = await in_db(searches.saved)
    keeps = not parse(text, _now(request)).is_empty and text not in saved
    found = await in_db(projects.get, project) if project else None
    return fragment("search/saved.html", saved=saved, keeps=keeps, project=found)


@require_GET
async def within(request: HttpRequest, project_id: str, session_id: str) -> JsonResponse:
    """Where `?q=` stands in a conversation, from its first message on: `[[message, part, count], …]`."""
    session = await session_of(project_id, session_id)
    text = request.GET.get("q", "").strip()[: finding.LONGEST]
    found: list[finding.Place] = []
    ids = await in_db(finding.message_ids, session.id) if text else []
    for start in range(0, len(ids), finding.AT_ONCE):
        rows = await in_db(finding.rows, ids[start : start + finding.AT_ONCE], text)
        found += await asyncio.to_thread(finding.places, rows, text)
    return JsonResponse({"places": [[one.message_id, one.part_id, one.count] for one in found]})


def _progress() -> index.Progress | None:
    index.take_in()
    return index.progress()


def _found(text: str, here: str, before: int, now: datetime) -> dict[str, Any]:
    project = projects.get(here)
    query = parse(text, now)
    place = project.id if project else ""
    found = find(query, here=place, before=before)
    saved = searches.saved()
    return {
        "saved": saved,
        "keeps": not query.is_empty and text.strip() not in saved,
        "text": text,
        "project": project,
        "query": query,
        "found": found,
        "groups": [_shown(group, text, here) for group in found.groups],
        "completions": completions(text, place),
        "progress": index.progress(),
    }


def _shown(group: Group, text: str, here: str) -> dict[str, Any]:
    """`more` is the address of the other hits in the session, empty where there are none."""
    narrowed = {"q": f"{text} session:{group.session.id}", "project": here}
    return {
        "group": group,
        "links": [(hit, link(group.session, text, hit)) for hit in group.hits],
        "more": f"{reverse('search')}?{urlencode(narrowed)}" if group.more else "",
    }


def link(session: Session, text: str, hit: Hit) -> str:
    """The page of a session, at a message of it, where the words that were looked for are marked."""
    return f"{session.get_absolute_url()}?{urlencode({'found': text, 'part': hit.part_id})}#{hit.message_id}"


def _now(request: HttpRequest) -> datetime:
    return datetime.now(zone_of(request.COOKIES.get("timezone", "")))

"""The session page: shown whole, older messages on demand, hidden output on opening."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.utils.safestring import mark_safe
from django.utils.translation import gettext
from django.views.decorators.http import require_GET

from sessions.core.db import in_db
from sessions.core.models import Project, Session
from sessions.core.store import events, inbox, ledger, messages, pins, provider_keys, turns, waits
from sessions.core.store import sessions as session_store
from sessions.rendering.attached import download
from sessions.rendering.html import html
from sessions.rendering.messages import Deeds, Place, Wire, messages_html
from sessions.rendering.parts import output_html, written
from sessions.rendering.periods import zone_of
from sessions.search.query import parse
from sessions.web.access import find_moved, is_here, project_of, session_of
from sessions.web.live import states
from sessions.web.live.fragments import all_fragments
from sessions.web.respond import fragment, page

PAGE = 24
"""Messages shown at once; older ones come when scrolled to."""
LONG_PAGE = 240
"""Messages that come at once where an old one is gone to."""


@require_GET
async def project(request: HttpRequest, project_id: str) -> HttpResponse:
    """The session used last, or the composer for a first one."""
    found = await project_of(project_id)
    newest = await in_db(session_store.listing, found, roots=True, limit=1)
    if newest:
        return HttpResponseRedirect(newest[0].get_absolute_url())
    return HttpResponseRedirect(reverse("new-session", args=(found.id,)))


async def new(request: HttpRequest, project_id: str) -> HttpResponse:
    """A page without a session: it is created by the first prompt. `agent` and `model` are chosen for it."""
    found = await project_of(project_id)
    context = await in_db(_project_context, found, zone=_zone(request))
    chosen = {name: request.GET[name] for name in ("agent", "model") if name in request.GET}
    context["chosen"] = f"&{urlencode(chosen)}" if chosen else ""
    return await page(request, "session.html", live=True, here=is_here(request), **context)


@require_GET
async def session(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    try:
        found = await session_of(project_id, session_id)
    except Http404:
        moved = await in_db(find_moved, project_id, session_id)
        if moved is None:
            raise
        return HttpResponseRedirect(moved.get_absolute_url())
    context = await in_db(_session_context, found, _zone(request))
    entries, waited, done = context.pop("entries"), context.pop("waited"), context.pop("deeds")
    place = Place.of(found, context.pop("pinned"), context.pop("senders"), context.pop("payers"))
    context["messages"] = await asyncio.to_thread(messages_html, entries, place, waited, done)
    context |= {"review": _review_choice(request), "found": request.GET.get("found", "")}
    context["found_words"] = _found_words(context["found"])
    return await page(request, "session.html", live=True, place=place, here=is_here(request), **context)


@require_GET
async def older(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """`?before=<message>`: the messages before one, with the way to those before them. `until` is one that is
    gone to: as many as lie before it come at once."""
    found = await session_of(project_id, session_id)
    before, until = request.GET.get("before", ""), request.GET.get("until", "")
    entries, more = await in_db(history_page, found.id, before, until)
    waited = await in_db(waits.of, found.id)
    done = await in_db(deeds_of, found.id, entries)
    place = Place.of(found, *await in_db(_said_of, found.id))
    return fragment(
        "conversation/older.html",
        messages=await asyncio.to_thread(messages_html, entries, place, waited, done),
        place=place,
        before=entries[0]["info"]["id"] if more else "",
    )


def _said_of(session_id: str) -> tuple[Mapping[str, str], Mapping[str, str], Mapping[str, str]]:
    """Pins, senders and payers, as `Place` has them."""
    payers = provider_keys.payers(session_id) if settings.PEOPLE else {}
    return pins.of_messages(session_id), inbox.senders(session_id), payers


@require_GET
async def output(request: HttpRequest, project_id: str, session_id: str, part_id: str) -> HttpResponse:
    """The whole output of a tool call, or the rest of a long prompt."""
    found = await session_of(project_id, session_id)
    part = await in_db(messages.part, found.id, part_id)
    if part is None:
        raise Http404(gettext("This part of the conversation is gone."))
    shown = await asyncio.to_thread(output_html, part)
    if await in_db(turns.changed_files, found.id, part_id):
        shown += html("tools/review.html", part=part, base=found.get_absolute_url())
    return HttpResponse(shown)


@require_GET
async def answer_text(
    request: HttpRequest, project_id: str, session_id: str, message_id: str
) -> HttpResponse:
    """What the model wrote in an answer, as Markdown; no failed attempts."""
    found = await session_of(project_id, session_id)
    entry = await in_db(messages.message, found.id, message_id)
    if entry is None:
        raise Http404(gettext("This answer is gone."))
    return HttpResponse(written(entry["parts"]), content_type="text/plain; charset=utf-8")


@require_GET
async def attachment(
    request: HttpRequest, project_id: str, session_id: str, part_id: str, number: int
) -> HttpResponse:
    """A file that a tool gave or a person attached: pictures are shown and sound is played, all else is only
    for download. What is kept under an address does not change."""
    found = await session_of(project_id, session_id)
    part = await in_db(messages.part, found.id, part_id)
    file = await asyncio.to_thread(download, part, number) if part else None
    if file is None:
        raise Http404(gettext("This file is not kept here."))
    response = HttpResponse(file.content, content_type=file.mime)
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    response["Content-Disposition"] = content_disposition_header(True, file.name)
    response["Cache-Control"] = "private, max-age=31536000, immutable"
    return response


@require_GET
async def sessions(request: HttpRequest, project_id: str) -> HttpResponse:
    """The list of the sidebar, filtered by `?q=` and a `label`, with the archived ones if `?archived`."""
    found = await project_of(project_id)
    html = await in_db(
        states.sidebar_list,
        found,
        current=request.GET.get("current", ""),
        search=request.GET.get("q", "").strip(),
        archived="archived" in request.GET,
        label=request.GET.get("label", ""),
        zone=_zone(request),
    )
    return HttpResponse(html)


def history_page(session_id: str, before: str = "", until: str = "") -> tuple[list[dict[str, Any]], bool]:
    """One page of messages, oldest first, and whether older ones remain; with `until` a page that begins with
    this message, or is as long as any."""
    wanted = messages.count(session_id, until, before) if until else 0
    size = min(max(wanted, PAGE), LONG_PAGE)
    entries = messages.history(session_id, limit=size + 1, before=before)
    more = len(entries) > size
    return entries[1:] if more else entries, more


def deeds_of(session_id: str, entries: Sequence[Wire]) -> Deeds:
    """What was done for the prompts of a page, also where their answers are on another."""
    prompts = [entry["info"]["id"] for entry in entries if entry["info"]["role"] == "user"]
    return turns.deeds(session_id, prompts)


def _found_words(text: str) -> str:
    """What a search marks in the conversation, as JSON for static/js/found.js; empty for nothing."""
    words = parse(text, datetime.now(UTC)).words
    return json.dumps(words) if words else ""


def _zone(request: HttpRequest) -> tzinfo:
    """Where the person is, as their browser says (static/js/session-list.js)."""
    return zone_of(request.COOKIES.get("timezone", ""))


def _project_context(project: Project, current: str = "", *, zone: tzinfo) -> dict[str, Any]:
    return {
        "project": project,
        "cursor": events.latest(),
        "sidebar": states.sidebar_list(project, current=current, zone=zone),
    }


def _review_choice(request: HttpRequest) -> str:
    """What the person chose about the panel of changes in this project (static/js/layout.js); or empty."""
    chosen = request.COOKIES.get("panel", "")
    return chosen if chosen in ("open", "closed") else ""


def _session_context(session: Session, zone: tzinfo) -> dict[str, Any]:
    """All rows of the page in one go; the cursor is read first, so that nothing is missed after it."""
    context = _project_context(session.project, session.id, zone=zone)
    entries, more = history_page(session.id)
    shown = {f"show_{render.__name__}": mark_safe(render(session, oob=False)) for render in all_fragments()}  # noqa: S308
    return context | shown | {
        "session": session,
        "entries": entries,
        "changed": ledger.by_tools(session.id).exists(),
        "waited": waits.of(session.id),
        "pinned": pins.of_messages(session.id),
        "senders": inbox.senders(session.id),
        "payers": provider_keys.payers(session.id) if settings.PEOPLE else {},
        "deeds": deeds_of(session.id, entries),
        "before": entries[0]["info"]["id"] if more else "",
    }  # fmt: skip

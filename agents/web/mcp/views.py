"""What is read on the page of servers. What changes by itself is exchanged in pieces (static/js/mcp.js)."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop
from django.views.decorators.http import require_GET

from agents.servers.mcp.hub import hub
from agents.servers.mcp.server import State
from agents.web.mcp import details
from agents.web.mcp.listing import Row, row, rows
from sessions.core.text import visible
from sessions.web.places import Place, place_of
from sessions.web.respond import fragment, page

_STOP_POLLING = 286
"""To htmx: what asks again and again need not any more."""
_TROUBLE = {
    "failed": gettext_noop("failed"),
    "needs_auth": gettext_noop("needs sign-in"),
    "needs_client_registration": gettext_noop("needs a client id"),
}


@require_GET
async def servers(request: HttpRequest) -> HttpResponse:
    """`?project=`: MCP servers, and language servers, which the page pulls by URL."""
    place = await place_of(request.GET)
    return await page(request, "mcp/page.html", place=place, project=place.project, rows=await _rows(place))


@require_GET
async def listing(request: HttpRequest) -> HttpResponse:
    place = await place_of(request.GET)
    return fragment("mcp/list.html", place=place, project=place.project, rows=await _rows(place))


@require_GET
async def detail(request: HttpRequest) -> HttpResponse:
    """What the server `?name=` offers, how it is set up, and the end of its log."""
    found = await row_of(request.GET)
    directory = (await place_of(request.GET)).directory
    pieces = await asyncio.to_thread(details.pieces, found, directory)
    return fragment("mcp/detail.html", row=found, pieces=pieces)


@require_GET
async def schema(request: HttpRequest) -> HttpResponse:
    """The schemas of `?tool=`."""
    found = details.tool(await row_of(request.GET), request.GET.get("tool", ""))
    if found is None:
        raise Http404(gettext("The server has no such tool any longer."))
    shown = details.schemas(found)
    return fragment("mcp/schema.html", input=shown["input"], output=shown["output"])


@require_GET
async def resource(request: HttpRequest) -> HttpResponse:
    """The content of `?uri=`."""
    found = await row_of(request.GET)
    return fragment("mcp/resource.html", **await details.resource(found, request.GET.get("uri", "")))


@require_GET
async def log(request: HttpRequest) -> HttpResponse:
    """Nothing as long as it is the one that was `?seen=`; for a server that is gone, once and for all."""
    try:
        server = await row_of(request.GET)
    except Http404:
        return HttpResponse(status=_STOP_POLLING, headers={"HX-Reswap": "none"})
    shown = await asyncio.to_thread(details.log, server)
    if shown.version == request.GET.get("seen"):
        return HttpResponse(status=204)
    return fragment("mcp/log.html", log=shown)


@require_GET
async def badge(request: HttpRequest) -> HttpResponse:
    """For the header of a session: empty as long as nothing has to be looked at. Where turns run in other
    processes it is, so that no server is started only to be shown."""
    place = await place_of(request.GET)
    states: dict[str, State] = {}
    with suppress(OSError):  # a folder that is gone has no servers
        if settings.RUNS_TURNS:
            states = await asyncio.to_thread(hub.statuses, place.directory)
    trouble = [
        f"{visible(name)}: {gettext(_TROUBLE[state.status])}"
        for name, state in states.items()
        if state.status in _TROUBLE
    ]
    return fragment("mcp/badge.html", trouble=trouble, words="; ".join(trouble), project=place.id)


async def row_of(fields: QueryDict) -> Row:
    """The server `name` of `project`. Raises Http404."""
    place = await place_of(fields)
    try:
        found = await asyncio.to_thread(row, place.directory, fields.get("name", ""))
    except OSError as error:
        raise Http404(gettext("The folder of the project cannot be read.")) from error
    if found is None:
        raise Http404(gettext("There is no such server any longer."))
    return found


async def _rows(place: Place) -> list[Row]:
    try:
        return await asyncio.to_thread(rows, place.directory)
    except OSError as error:
        raise Http404(gettext("The folder of the project cannot be read.")) from error

"""What is read on the page of servers about languages. It is exchanged in pieces (static/js/languages.js)."""

from __future__ import annotations

import asyncio
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.views.decorators.http import require_GET

from agents.configuration import load
from agents.lsp.life.plan import place_of as languages_of
from agents.lsp.pages.listing import Shown, others, shown
from agents.lsp.service import service
from agents.lsp.statuses import ServerState
from agents.mcp.pages.places import place_of
from sessions.pages.respond import fragment
from sessions.rendering.text import shown_output


@require_GET
async def languages(request: HttpRequest) -> HttpResponse:
    """The section of `?project=`."""
    place = await place_of(request.GET)
    try:
        await service.renew(place.directory)
        context = await asyncio.to_thread(_section, place.directory)
    except OSError as error:
        raise Http404("The folder of the project cannot be read.") from error
    return fragment("lsp/section.html", place=place, **context)


@require_GET
async def log(request: HttpRequest) -> HttpResponse:
    """What the server `?row=` in the folder `?root=` said last, to be looked at again with `?seen=` of that;
    then nothing as long as it is the same."""
    _, state = await state_of(request.GET)
    text = shown_output("\n".join(state.log))
    version = sha256(text.encode()).hexdigest()[:12]
    seen = request.GET.get("seen")
    if version == seen:
        return HttpResponse(status=204)
    template = "lsp/lines.html" if seen else "lsp/log.html"
    return fragment(template, name=state.name, log=text, version=version)


@require_GET
async def more(request: HttpRequest) -> HttpResponse:
    """The servers that no file of the project asks for."""
    place = await place_of(request.GET)
    try:
        rows = await asyncio.to_thread(_others, place.directory)
    except OSError as error:
        raise Http404("The folder of the project cannot be read.") from error
    return fragment("lsp/more.html", place=place, rows=rows)


async def state_of(fields: QueryDict) -> tuple[Path, ServerState]:
    """The folder of `project`, and its server `row` in the folder `root`. Raises Http404."""
    directory = (await place_of(fields)).directory
    named = fields.get("row"), fields.get("root")
    for state in await asyncio.to_thread(service.statuses, directory):
        if (state.id, str(state.root)) == named:
            return directory, state
    raise Http404("There is no such server any longer.")


def _section(directory: Path) -> dict[str, Any]:
    """`ours`: what the user's own configuration says."""
    on = load(directory).config.lsp is not False
    ours = load(None).config.lsp
    return {"on": on, "ours": ours is True, "rows": shown(directory) if on else []}


def _others(directory: Path) -> list[Shown]:
    return others(languages_of(directory), shown(directory))

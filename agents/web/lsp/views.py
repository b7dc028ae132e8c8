"""What is read on the page of servers about languages. It is exchanged in pieces (static/js/languages.js)."""

from __future__ import annotations

import asyncio
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.views.decorators.http import require_GET, require_POST

from agents.config.configuration import load
from agents.config.problem import Refused, Unreadable
from agents.config.writing.change import change
from agents.servers.lsp.install import allowed, installer, lacking
from agents.servers.lsp.life.plan import place_of as languages_of
from agents.servers.lsp.matrix.row import Package
from agents.servers.lsp.matrix.table import BUILTIN
from agents.servers.lsp.service import service
from agents.servers.lsp.types import ServerState
from agents.web.lsp.listing import Shown, others, shown
from agents.web.mcp.places import place_of
from sessions.core import bus
from sessions.core.text import shown_output
from sessions.web.respond import beside, done, fragment


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


RENEW = "languages:renew"
"""Told to the page: read the section again."""
_PLACE = "languages"


@require_POST
async def switch(request: HttpRequest) -> HttpResponse:
    """For all projects, in the user's own configuration: `on` switches on, without it off."""
    directory, on = (await place_of(request.POST)).directory, "on" in request.POST
    try:
        await asyncio.to_thread(change, None, {"lsp": on})
    except (Refused, Unreadable) as error:
        return beside(_PLACE, str(error))
    await service.renew(directory)
    if await asyncio.to_thread(_is_on, directory) != on:
        said = "off" if on else "on"
        return beside(
            _PLACE, f"It is written, but the project's own configuration keeps them switched {said}."
        )
    return _renewed("Language servers are on." if on else "Language servers are off.")


@require_POST
async def retry(request: HttpRequest) -> HttpResponse:
    """Start the server `row` in `root` anew; the page learns from its events what becomes of it."""
    directory, state = await state_of(request.POST)
    task = asyncio.create_task(service.retry(directory, state.id, state.root))
    _starting.add(task)
    task.add_done_callback(_starting.discard)
    return _renewed(f"{state.name}: starting again")


_starting: set[asyncio.Task[None]] = set()
"""Kept, as the loop itself holds tasks weakly."""


@require_POST
async def install(request: HttpRequest) -> HttpResponse:
    """Install the server `row` from its registry."""
    row = next((row for row in BUILTIN if row.id == request.POST.get("row")), None)
    if row is None or not isinstance(row.install, Package):
        raise Http404("There is no such server to install.")
    if not allowed():
        return beside(_PLACE, "Installing is switched off by OPENCODE_DISABLE_LSP_DOWNLOAD.")
    if problem := await asyncio.to_thread(lacking, row.install):
        return beside(_PLACE, problem)
    installer.begin(row, lambda: bus.publish(bus.Event("lsp.updated", {})))
    return _renewed(f"Installing {row.language}")


def _renewed(said: str) -> HttpResponse:
    """`said` is read out."""
    return done(**{RENEW: {"said": said}})


def _is_on(directory: Path) -> bool:
    return load(directory).config.lsp is not False

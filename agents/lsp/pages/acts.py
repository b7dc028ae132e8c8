"""What a person does with language servers: switch them on or off, start one again, install one."""

from __future__ import annotations

import asyncio
from pathlib import Path

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from agents.configuration import Refused, Unreadable, change, load
from agents.lsp.install import allowed, installer, lacking
from agents.lsp.matrix.row import Package
from agents.lsp.matrix.table import BUILTIN
from agents.lsp.pages.views import state_of
from agents.lsp.service import service
from agents.mcp.pages.places import place_of
from sessions import bus
from sessions.pages.respond import beside, done

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

"""The dialog that adds or changes a server: its form, the command taken apart, a test, saving."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.views.decorators.http import require_GET, require_POST

from agents.config import McpConfig
from agents.configuration import Unreadable, preview, written
from agents.mcp.pages import fields
from agents.mcp.pages.acts import HELD, config_of, renewed, result_of, write
from agents.mcp.pages.fields import Wrong
from agents.mcp.pages.listing import Row
from agents.mcp.pages.listing import row as find
from agents.mcp.pages.places import Place, place_of
from agents.mcp.pages.views import row_of
from agents.mcp.server import parse
from sessions.pages.respond import beside, fragment, refused

_PROBLEMS = (ValueError, Unreadable, OSError)
_SHELL = frozenset({"|", "||", "&&", ";", "&", ">", ">>", "<", "2>&1"})


@dataclass(frozen=True, slots=True)
class Draft:
    """What the form asks for: the change `entry` of a server, in the user's `own` file or the project's."""

    place: Place
    name: str
    own: bool
    entry: Mapping[str, Any]

    @property
    def directory(self) -> Path | None:
        return None if self.own else self.place.directory


@require_GET
async def form(request: HttpRequest) -> HttpResponse:
    """The dialog; with `name` for that server, else for a new one."""
    place = await place_of(request.GET)
    row = await row_of(request.GET) if request.GET.get("name") else None
    shown = fields.shown(row.name, row.entry) if row else fields.Fields()
    files = await asyncio.to_thread(_files, place)
    return fragment("mcp/form.html", place=place, row=row, fields=shown, files=files)


@require_GET
async def words(request: HttpRequest) -> HttpResponse:
    """The words of `?command=`, and what a person may have thought a shell would do with them."""
    try:
        found = fields.split(request.GET.get("command", ""))
    except Wrong as error:
        return fragment("mcp/words.html", problem=str(error))
    return fragment("mcp/words.html", words=found, hints=_hints(found))


@require_POST
async def test(request: HttpRequest) -> HttpResponse:
    """Connect once with what is filled in; nothing is saved."""
    try:
        draft = await _draft(request.POST)
        config = await asyncio.to_thread(_config, draft)
    except _PROBLEMS as problem:
        return refused(str(problem))
    result = await result_of(draft.name, config, draft.place.directory)
    return refused(result) if isinstance(result, str) else fragment("mcp/result.html", result=result)


@require_POST
async def save(request: HttpRequest) -> HttpResponse:
    try:
        draft = await _draft(request.POST)
        await asyncio.to_thread(_config, draft)
        await asyncio.to_thread(write, draft.own, draft.place.directory, draft.name, draft.entry)
    except _PROBLEMS as problem:
        return beside("server-dialog", str(problem))
    return renewed(draft.name, "saved")


async def _draft(form: QueryDict) -> Draft:
    """Raises Wrong."""
    place, name = await place_of(form), fields.name_in(form)
    row = await asyncio.to_thread(find, place.directory, name)
    editing = "editing" in form
    if editing and row is None:
        raise Wrong("This server is not configured any longer.")
    if row is not None:
        _check(row, editing)
    own = row.scope == "user" if row else form.get("saved") != "project"
    entry = row.entry if row else {}
    return Draft(place, name, own, fields.change_of(form, entry))


def _config(draft: Draft) -> McpConfig:
    """The entry as it would count. Raises ValueError for one that makes no server, and as `preview`."""
    config = config_of(preview(draft.directory, {"mcp": {draft.name: draft.entry}}), draft.name)
    parse(draft.name, config)
    return config


def _check(row: Row, editing: bool) -> None:
    """Raise Wrong for a server that the form cannot change."""
    if not editing:
        raise Wrong("There is a server of this name already.")
    if row.held:
        raise Wrong(HELD)
    if not row.writable:
        raise Wrong("It is written in a file that is not changed from here.")


def _files(place: Place) -> dict[str, Path]:
    """The files that a new server can be written into, by scope."""
    files = (item for item in written(place.directory) if item.writable)
    return {"user" if item.own else "project": item.file for item in files}


def _hints(words: list[str]) -> list[str]:
    hints = []
    if shell := [word for word in words if word in _SHELL]:
        hints.append(f"No shell reads this line: {shell[0]} is passed on as it stands.")
    if words and "=" in words[0] and not words[0].startswith("/"):
        hints.append("Variables belong into the environment below.")
    if any(word.startswith("~") or "$" in word for word in words):
        hints.append("~ and $NAME are not replaced; {env:NAME} is.")
    return hints

"""The settings on their page: all of them, what a change would make of a file, and making it."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from agents.config.configuration import load
from agents.config.problem import Refused, Unreadable
from agents.config.redaction import covered
from agents.config.writing import Draft, change, draft, target
from agents.toolkit.catalog import providers_of
from agents.toolkit.definitions import known_agents
from agents.web.configuration.catalogue import Setting, parts_of
from agents.web.configuration.catalogue import setting as setting_of
from agents.web.configuration.shown import Row, entries, groups, rows
from agents.web.configuration.values import Wrong, nested, patch_of
from sessions.changes.diffs.hunks import hunks
from sessions.rendering.diffs.table import Source, Table
from sessions.web.places import Place, place_of
from sessions.web.respond import REFUSED, fragment

_ALL = 10**6
"""Lines around a change that are shown: a file of settings is read as a whole."""
_PROBLEMS = (Wrong, Refused, Unreadable, OSError)


@dataclass(frozen=True, slots=True)
class Asked:
    """Which setting is to be changed, in the person's `own` file or in the project's."""

    place: Place
    setting: Setting
    own: bool

    @property
    def directory(self) -> Path | None:
        return None if self.own else self.place.directory

    @property
    def where(self) -> str:
        return "own" if self.own else "project"

    async def row(self) -> Row:
        (row,) = await asyncio.to_thread(rows, self.place.directory, [self.setting], own=self.own)
        return row


@require_GET
async def settings(request: HttpRequest) -> HttpResponse:
    """Of `?project=`; with `where=project` its own file is changed, else the person's."""
    place = await place_of(request.GET)
    files = await asyncio.to_thread(_files, place)
    own = request.GET.get("where") != "project" or "project" not in files
    return fragment(
        "configuration/settings.html",
        place=place,
        files=files,
        where="own" if own else "project",
        groups=await asyncio.to_thread(groups, place.directory, own=own),
        entries=await asyncio.to_thread(entries, place.directory),
        models=await _models(place),
        agents=await asyncio.to_thread(lambda: list(known_agents(load(place.directory).config))),
    )


@require_GET
async def entry(request: HttpRequest) -> HttpResponse:
    """The settings of the agent, command or provider `?name=` of that `kind`."""
    place, kind, name = await place_of(request.GET), request.GET.get("kind", ""), request.GET.get("name", "")
    name, own = name.strip(), request.GET.get("where") != "project"
    whole = setting_of(f"{kind}/{name}/")
    if whole is None:
        return fragment("fragments/refused.html", message="That is no name.")
    named = await asyncio.to_thread(entries, place.directory)
    known = next((one for one in named[kind] if one.name == name), None)
    read = partial(rows, place.directory, own=own, markdown=known.file if known else None)
    return fragment(
        "configuration/entry.html",
        place=place,
        where="own" if own else "project",
        rows=await asyncio.to_thread(read, parts_of(kind, name)),
        whole=(await asyncio.to_thread(read, [whole]))[0],
        entry=known,
    )


@require_POST
async def preview(request: HttpRequest) -> HttpResponse:
    """What the change would make of the file."""
    asked = await _asked(request.POST)
    try:
        patch = await _patch(asked, request.POST)
        drafted = await asyncio.to_thread(draft, asked.directory, patch)
    except _PROBLEMS as problem:
        return _refused(asked, problem)
    if drafted.before == drafted.after:
        return fragment("configuration/same.html", file=drafted.file)
    shown = await asyncio.to_thread(_table, drafted)
    given = list(request.POST.items())
    return fragment("configuration/draft.html", asked=asked, file=drafted.file, table=shown, given=given)


@require_POST
async def write(request: HttpRequest) -> HttpResponse:
    """Make the change, and show the setting as it is then; a toast takes it back (`undo`)."""
    asked = await _asked(request.POST)
    try:
        before = (await asked.row()).here
        await asyncio.to_thread(change, asked.directory, await _patch(asked, request.POST))
    except _PROBLEMS as problem:
        return _refused(asked, problem)
    if "undo" in request.POST:
        response = HttpResponse()
        response["HX-Trigger"] = "settings:changed"
        return response
    back = {"key": asked.setting.key, "where": asked.where, "project": asked.place.id}
    back |= {"remove": "1"} if before is None else {"json": json.dumps(before)}
    return fragment(
        "configuration/written.html",
        row=await asked.row(),
        where=asked.where,
        place=asked.place,
        text=f"{asked.setting.title} is written.",
        undo=reverse("change-setting"),
        values=json.dumps({**back, "undo": "1"}),
    )


async def _asked(fields: QueryDict) -> Asked:
    """Raises Http404."""
    setting = setting_of(fields.get("key", ""))
    if setting is None:
        raise Http404("There is no such setting.")
    return Asked(await place_of(fields), setting, setting.own or fields.get("where") != "project")


async def _patch(asked: Asked, fields: QueryDict) -> Mapping[str, Any]:
    """Raises Wrong."""
    return nested(asked.setting.path, patch_of(asked.setting, fields, (await asked.row()).here))


def _refused(asked: Asked, problem: Exception) -> HttpResponse:
    """The setting is named already where this is shown."""
    words = str(problem).removeprefix(f"{asked.setting.key}: ")
    return fragment("fragments/refused.html", status=REFUSED, message=words)


def _files(place: Place) -> dict[str, Path]:
    """The files that may be changed: the person's own, and the project's where it counts."""
    found = {"own": target(None, os.environ).file}
    if place.project is not None:
        with suppress(Refused):
            found["project"] = target(place.directory, os.environ).file
    return found


async def _models(place: Place) -> list[str]:
    providers = await providers_of(place.directory)
    return [model.ref for provider in providers.values() for model in provider.models.values()]


def _table(drafted: Draft) -> str:
    before, after = covered(drafted.before, drafted.after), covered(drafted.after, drafted.before)
    found = hunks(before.encode(), after.encode(), _ALL)
    source = Source(drafted.file.name, before, after, found.mixed_ends, {})
    return Table(found, "unified", source, None, "", "").whole().table

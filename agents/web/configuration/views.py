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
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from agents.config.configuration import load
from agents.config.problem import Refused, Unreadable
from agents.config.redaction import covered
from agents.config.writing import Draft, change, draft, target
from agents.llm.providers import UnknownModel, find_model
from agents.llm.types import Model
from agents.toolkit.catalog import providers_of
from agents.toolkit.definitions import known_agents
from agents.web.configuration.catalogue import Setting, parts_of
from agents.web.configuration.catalogue import setting as setting_of
from agents.web.configuration.past import MOST as MOST_DECISIONS
from agents.web.configuration.past import Past, is_about_rules, past
from agents.web.configuration.shown import Entry, Row, copy_of, entries, groups, rows
from agents.web.configuration.values import Wrong, nested, patch_of
from sessions.changes.diffs.hunks import hunks
from sessions.core.db import in_db
from sessions.core.sentences import grouped, message_of
from sessions.core.store import permissions
from sessions.rendering.diffs.table import Source, Table
from sessions.web.places import Place, place_of
from sessions.web.respond import REFUSED, fragment

_ALL = 10**6
"""Lines around a change that are shown: a file of settings is read as a whole."""
MOST_MODELS = 1000
"""That are listed; of another one more is a search away."""
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
    """The settings of the agent, command, provider or model `?name=` of that `kind`."""
    place, kind, name = await place_of(request.GET), request.GET.get("kind", ""), request.GET.get("name", "")
    name, own = name.strip(), request.GET.get("where") != "project"
    whole = setting_of(f"{kind}/{name}/")
    if whole is None:
        return fragment("fragments/refused.html", message=gettext("That is no name."))
    named = await asyncio.to_thread(entries, place.directory)
    known = next((one for one in named.get(kind, ()) if one.name == name), None)
    usual = await _usual(place, name) if kind == "model" else {}
    read = partial(rows, place.directory, own=own, markdown=known.file if known else None, usual=usual)
    return fragment(
        "configuration/entry.html",
        place=place,
        where="own" if own else "project",
        kind=kind,
        rows=await asyncio.to_thread(read, parts_of(kind, name)),
        whole=(await asyncio.to_thread(read, [whole]))[0],
        entry=known,
    )


@require_GET
async def models(request: HttpRequest) -> HttpResponse:
    """Those that there are, with their windows and prices."""
    place = await place_of(request.GET)
    found = [
        Entry("model", model.ref, _about(model), None)
        for provider in (await providers_of(place.directory)).values()
        for model in provider.models.values()
    ]
    return fragment(
        "configuration/entries.html",
        place=place,
        where="project" if request.GET.get("where") == "project" else "own",
        kind="model",
        found=found[:MOST_MODELS],
        more=max(len(found) - MOST_MODELS, 0),
    )


def _about(model: Model) -> str:
    price = model.price
    prices = {"input": f"{price.input:g}", "output": f"{price.output:g}"}
    cost = (
        gettext("%(input)s and %(output)s US$") % prices
        if any((price.input, price.output))
        else gettext("no price")
    )
    return gettext("%(context)s tokens, %(output)s of an answer, %(cost)s") % {
        "context": grouped(model.context),
        "output": grouped(model.output),
        "cost": cost,
    }


async def _usual(place: Place, ref: str) -> dict[str, Any]:
    """What holds for a model where no file says anything: what is known of it."""
    try:
        model = find_model(await providers_of(place.directory), ref)
    except UnknownModel:
        return {}
    limits = {"context": model.context, "output": model.output}
    limits |= {"input": model.input} if model.input else {}
    prices = {name: getattr(model.price, name) for name in ("input", "output", "cache_read", "cache_write")}
    at = f"model/{ref}"
    found: dict[str, Any] = {f"{at}/name": model.label, f"{at}/limit": limits}
    return found | ({f"{at}/cost": prices} if any(prices.values()) else {})


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
    return fragment(
        "configuration/draft.html",
        asked=asked,
        file=drafted.file,
        table=shown,
        given=given,
        copied="copy" in request.POST,
        past=await _past(asked, patch),
    )


async def _past(asked: Asked, patch: Mapping[str, Any]) -> Past | None:
    """What the change of rules would make of calls of the project; None for other settings."""
    project, path = asked.place.project, asked.setting.path
    if project is None or not is_about_rules(path):
        return None
    decisions = await in_db(lambda: permissions.decisions(project.id, limit=MOST_DECISIONS))
    return await asyncio.to_thread(past, asked.place.directory, path, patch, decisions, own=asked.own)


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
    response = fragment(
        "configuration/written.html",
        row=await asked.row(),
        copied="copy" in request.POST,
        where=asked.where,
        place=asked.place,
        text=gettext("%(setting)s is written.") % {"setting": gettext(asked.setting.title)},
        undo=reverse("change-setting"),
        values=json.dumps({**back, "undo": "1"}),
    )
    if "copy" in request.POST:
        response["HX-Trigger"] = "settings:changed"  # it is in the list then
    return response


async def _asked(fields: QueryDict) -> Asked:
    """By its `key`, or as a whole the entry `name` of a `kind`. Raises Http404."""
    entry = f"{fields.get('kind', '')}/{fields.get('name', '').strip()}/"
    setting = setting_of(fields.get("key", entry))
    if setting is None:
        raise Http404(gettext("There is no such setting."))
    return Asked(await place_of(fields), setting, setting.own or fields.get("where") != "project")


async def _patch(asked: Asked, fields: QueryDict) -> Mapping[str, Any]:
    """With `copy` of the entry of that name. Raises Wrong."""
    if "copy" in fields:
        return nested(asked.setting.path, await _copied(asked, fields.get("copy", "")))
    return nested(asked.setting.path, patch_of(asked.setting, fields, (await asked.row()).here))


async def _copied(asked: Asked, name: str) -> dict[str, Any]:
    """Raises Wrong."""
    kind, new = asked.setting.path[:2]
    if any(
        one.name == new for one in (await asyncio.to_thread(entries, asked.place.directory)).get(kind, ())
    ):
        raise Wrong(
            gettext("There is a %(kind)s %(new)s already: give the copy another name.")
            % {"kind": kind, "new": new}
        )
    found = await asyncio.to_thread(copy_of, asked.place.directory, kind, name)
    if found is None:
        raise Wrong(gettext("There is no %(kind)s %(name)s to be copied.") % {"kind": kind, "name": name})
    return found


def _refused(asked: Asked, problem: Exception) -> HttpResponse:
    """The setting is named already where this is shown."""
    words = message_of(problem).removeprefix(f"{asked.setting.key}: ")
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

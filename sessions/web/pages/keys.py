"""The settings page of the keys: what is in force and why, a way more, a way less, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from sessions.core.db import in_db
from sessions.core.store import keys as store
from sessions.web import keys
from sessions.web.access import project_of
from sessions.web.keys import Binding, in_force
from sessions.web.respond import beside, fragment, page
from sessions.web.shortcuts import GROUPS, SHORTCUTS, Group


@dataclass(frozen=True, slots=True)
class Section:
    """The shortcuts of a place, with their keys."""

    group: Group
    rows: Sequence[Binding]


@require_GET
async def show(request: HttpRequest) -> HttpResponse:
    """`?project=` is where the way back leads. The rows alone for a page that has the rest."""
    if request.headers.get("HX-Target") == "keys-list":
        return _rows(await in_db(in_force))
    back = request.GET.get("project", "")
    project = await project_of(back) if back else None
    return await page(
        request, "settings/keys.html", project=project, sections=_sections(await in_db(in_force))
    )


@require_GET
async def help_dialog(request: HttpRequest) -> HttpResponse:
    """What can be done by keys, for whoever has no time to look for it in the settings."""
    return fragment("composer/help.html")


@require_POST
async def change(request: HttpRequest, name: str) -> HttpResponse:
    """`add` or `remove` a way to press one, or without either as if nothing had been changed of it; `instead`
    of what has the way now, `own` as `keys.add` has it. Gives all rows: one says what it lost to another."""
    if name not in SHORTCUTS or SHORTCUTS[name].fixed:
        raise Http404(gettext("There is no such shortcut."))
    given = request.POST
    try:
        if "add" in given:
            way, own = given["add"], given.get("own", "Ctrl")
            await in_db(keys.add, name, way, own=own, instead="instead" in given)
        elif "remove" in given:
            await in_db(keys.remove, name, given["remove"])
        else:
            await in_db(store.reset, name)
    except keys.Unfit as problem:
        refused = "settings/keys_refused.html"
        return beside(f"keys-{name}", str(problem), refused, shortcut=name, other=problem.other)
    return _rows(await in_db(in_force))


@require_POST
async def reset(request: HttpRequest) -> HttpResponse:
    """Nothing of it was ever changed by the person."""
    await in_db(store.reset)
    return _rows(await in_db(in_force))


def _rows(known: Mapping[str, Binding]) -> HttpResponse:
    return fragment("settings/keys_list.html", sections=_sections(known))


def _sections(known: Mapping[str, Binding]) -> list[Section]:
    return [Section(group, [known[one.name] for one in group.shortcuts]) for group in GROUPS]

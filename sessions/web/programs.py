"""Folders and files in programs of this machine: which there are, the choice, and those of the person's own.
Only for a page that was opened on this machine: elsewhere nobody would see what starts."""

from __future__ import annotations

import asyncio

from django.http import HttpRequest, HttpResponse
from django.utils.formats import number_format
from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop
from django.views.decorators.http import require_http_methods, require_POST

from sessions.core.db import in_db
from sessions.core.models.ledger import unpack_path
from sessions.core.store import programs as store
from sessions.project import browsing, programs
from sessions.project.programs import NotStarted, Program
from sessions.web.access import is_here, located
from sessions.web.respond import beside, fragment, noted, toast
from sessions.web.roots import root_of

LONGEST = 1000
ELSEWHERE = gettext_noop("Programs are started only for a page that is open on the machine of the server.")


@require_http_methods(["GET", "POST"])
async def open_in(request: HttpRequest) -> HttpResponse:
    """Of the project or the `session`: `path` from its folder (empty: the folder itself), or a whole one in a
    folder beside it, at `line`. GET gives the choice of a program; POST starts the `program` of that name."""
    given = request.POST if request.method == "POST" else request.GET
    place = await located(given)
    if not is_here(request):
        return noted(toast(gettext(ELSEWHERE)))
    line, named = given.get("line", ""), unpack_path(given.get("path", ""))
    try:
        root = await asyncio.to_thread(root_of, place.project, place.session, named)
        path = await asyncio.to_thread(browsing.inside, root.path if root.folder else place.directory, named)
        there = await _found()
        if request.method != "POST":
            return fragment("programs/dialog.html", programs=there, given=given, name=path.name)
        chosen = next((one for one in there if one.name == given.get("program")), None)
        if chosen is None:
            return noted(toast(gettext("This program is not there any more.")))
        number = int(line) if line.isdecimal() and len(line) < 8 else 0
        await asyncio.to_thread(programs.start, chosen, path, number)
    except (browsing.Unreadable, NotStarted) as problem:
        return noted(toast(str(problem)))
    opened = {"file": path.name, "program": gettext(chosen.label)}
    return noted(toast(gettext("Opened %(file)s in %(program)s.") % opened))


@require_http_methods(["GET", "POST"])
async def own(request: HttpRequest) -> HttpResponse:
    """What is found, and the person's own programs. POST adds `name` with its `command`."""
    if request.method == "POST":
        name, command = request.POST.get("name", "").strip(), request.POST.get("command", "").strip()
        try:
            programs.own(name, command)
        except ValueError as problem:
            said = gettext("This is no line of a program: %(problem)s") % {"problem": problem}
            return beside("program", said)
        if not name or len(name) > 40 or len(command) > LONGEST:
            most = {"name": 40, "line": number_format(LONGEST, force_grouping=True)}
            said = gettext("A name has up to %(name)s characters, a line up to %(line)s.") % most
            return beside("program", said)
        await in_db(store.save, name, command)
    return await _listed(request)


@require_POST
async def remove(request: HttpRequest) -> HttpResponse:
    """The person's own of that `name`."""
    await in_db(store.remove, request.POST.get("name", ""))
    return await _listed(request)


async def _listed(request: HttpRequest) -> HttpResponse:
    mine = await in_db(store.listing)
    there = await asyncio.to_thread(programs.found)
    names = [gettext(one.label) for one in there]
    return fragment("settings/programs.html", here=is_here(request), mine=mine, found=there, names=names)


async def _found() -> list[Program]:
    rows = await in_db(store.listing)
    return await asyncio.to_thread(programs.found, [programs.own(row.name, row.command) for row in rows])

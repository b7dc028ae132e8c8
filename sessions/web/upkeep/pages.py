"""The settings page: the store's meter, cleaning it up, and what can go for good."""

from __future__ import annotations

import asyncio

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET, require_POST

from sessions.changes.upkeep import damage
from sessions.changes.upkeep.caretaker import caretaker
from sessions.changes.upkeep.usage import Usage, addresses_by_session, holdings, largest
from sessions.core.db import in_db
from sessions.core.ids import now
from sessions.core.platform.limits import limits
from sessions.core.store import projects
from sessions.core.store import sessions as session_store
from sessions.web.access import project_of
from sessions.web.respond import fragment, page
from sessions.web.upkeep.meter import meter

IGNORED_CHOICES = (0, 10, 50, 200, 1000)
"""Megabytes of ignored files to choose from."""


@require_GET
async def settings(request: HttpRequest) -> HttpResponse:
    """`?project=` is where the way back leads."""
    back = request.GET.get("project", "")
    project = await project_of(back) if back else None
    return page(
        request,
        "settings/page.html",
        project=project,
        meter=await in_db(meter, await _sizes()),
        limits=await asyncio.to_thread(limits),
        choices=IGNORED_CHOICES,
    )


@require_POST
async def clean(request: HttpRequest) -> HttpResponse:
    """Collect all stores now; says what that freed. With `deleted`, sessions that were deleted go for good
    before."""
    gone = await in_db(session_store.purge, now() + 1) if "deleted" in request.POST else 0
    done = await caretaker.clean()
    freed = sum(max(0, each.before.size - each.after.size) for each in done)
    removed = sum(each.removed for each in done)
    shown = await in_db(meter, await _sizes())
    return fragment("settings/store.html", meter=shown, cleaned=True, gone=gone, freed=freed, removed=removed)


@require_POST
async def dismiss_damage(_: HttpRequest) -> HttpResponse:
    """The person has read what came of a damaged database; no page says it again."""
    await asyncio.to_thread(damage.dismiss)
    return fragment("settings/damage.html")


@require_POST
async def keep_ignored(request: HttpRequest, project_id: str) -> HttpResponse:
    """How much of a project's ignored files is kept from now on: `megabytes`, empty for as configured."""
    row = await project_of(project_id)
    given = request.POST.get("megabytes", "")
    chosen = int(given) if given.isdecimal() and int(given) in IGNORED_CHOICES else None
    await in_db(projects.choose_keep_ignored, row.id, chosen)
    row.keep_ignored = chosen
    return fragment("settings/ignored.html", project=row, choices=IGNORED_CHOICES, saved=True)


@require_GET
async def project(request: HttpRequest, project_id: str) -> HttpResponse:
    """The sessions of a project that hold most."""
    row = await project_of(project_id)
    named = await in_db(addresses_by_session, row.id)
    held = await asyncio.to_thread(largest, row.id, named)
    return fragment("settings/holdings.html", project=row, holdings=await in_db(holdings, held))


async def _sizes() -> dict[str, Usage]:
    return await caretaker.measure_all()

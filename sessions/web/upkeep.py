"""The settings page: the store's meter, cleaning it up, and what can go for good."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from django.conf import settings
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET, require_POST

from sessions.changes.upkeep import copies, damage
from sessions.changes.upkeep.caretaker import caretaker
from sessions.changes.upkeep.usage import Usage, addresses_by_session, holdings, is_full, largest
from sessions.core.db import in_db
from sessions.core.ids import now
from sessions.core.models import Project, Session
from sessions.core.platform.limits import limits
from sessions.core.store import projects
from sessions.core.store import sessions as session_store
from sessions.rendering.html import html
from sessions.web.access import project_of
from sessions.web.respond import fragment, page


@dataclass(frozen=True, slots=True)
class Row:
    """One project with a store; `sessions` that are there, `deleted` ones that can be restored."""

    project: Project
    usage: Usage
    sessions: int
    deleted: int


@dataclass(frozen=True, slots=True)
class Meter:
    """All stores and the copies of the database together against the quota, in bytes. `deleted` counts
    sessions that can be restored, `held` says that nothing is cleaned up: a damaged database lies there."""

    rows: tuple[Row, ...]
    size: int
    quota: int
    copies: int = 0
    copies_size: int = 0
    held: bool = False

    @property
    def deleted(self) -> int:
        return sum(row.deleted for row in self.rows)

    @property
    def full(self) -> bool:
        return self.size > self.quota

    @property
    def percent(self) -> int:
        return min(100, round(100 * self.size / self.quota)) if self.quota else 100


def meter(sizes: Mapping[str, Usage]) -> Meter:
    """Runs on the ORM's thread; `sizes` by project."""
    counted = Project.objects.filter(id__in=sizes.keys()).annotate(
        here=Count("sessions", filter=Q(sessions__time_deleted=None)),
        hidden=Count("sessions", filter=~Q(sessions__time_deleted=None)),
    )
    rows = [Row(project, sizes[project.id], project.here, project.hidden) for project in counted]
    rows.sort(key=lambda row: -row.usage.size)
    copies_size = copies.size()
    size = sum(usage.size for usage in sizes.values()) + copies_size
    found = len(copies.copies())
    return Meter(tuple(rows), size, settings.STORE_QUOTA, found, copies_size, bool(damage.files()))


def store_notice(session: Session, *, oob: bool = True) -> str:
    """Says in the session's page that the store is full; empty as long as it is not."""
    return html("settings/notice.html", session=session, full=is_full(), oob=oob)


IGNORED_CHOICES = (0, 10, 50, 200, 1000)
"""Megabytes of ignored files to choose from."""


@require_GET
async def settings_page(request: HttpRequest) -> HttpResponse:
    """`?project=` is where the way back leads."""
    back = request.GET.get("project", "")
    project = await project_of(back) if back else None
    return await page(
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

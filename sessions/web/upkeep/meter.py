"""What the settings page shows of the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.conf import settings
from django.db.models import Count, Q

from sessions.changes.upkeep import copies, damage
from sessions.changes.upkeep.usage import Usage, is_full
from sessions.core.models import Project, Session
from sessions.rendering.html import html


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

"""Lists of sessions, as rows and as wire objects."""

from __future__ import annotations

from typing import Any, cast

from django.db.models import Q, QuerySet

from sessions.core.models import Project, Session
from sessions.core.paths import normalized

from .rows import session_wire, worktree_of

_UNSHOWN = frozenset(
    "window status error used unread forked_from forked_at time_deleted lease_owner lease_until lease_epoch "
    "stop_epoch".split()
)
_COLUMNS = [field.attname for field in Session._meta.concrete_fields if field.name not in _UNSHOWN]


def matching(
    project: Project | None = None,
    *,
    search: str = "",
    roots: bool = False,
    archived: bool = False,
    directory: str = "",
    path: str = "",
    start: int | None = None,
    before: int | None = None,
) -> QuerySet[Session]:
    """Sessions that are not deleted, the last used first; of a project, or of all.

    `directory` is the folder itself, `path` one of the project with all below it. `start` and `before` bound
    the time of their last use, `before` itself not included.
    """
    rows = Session.objects.filter(time_deleted=None)
    if project is not None:
        rows = rows.filter(project=project)
    if directory:
        rows = rows.filter(directory=normalized(directory))
    if path and project is not None:
        folder = normalized(f"{project.worktree}/{path}")
        rows = rows.filter(Q(directory=folder) | Q(directory__startswith=f"{folder}/"))
    if start is not None:
        rows = rows.filter(time_updated__gte=start)
    if before is not None:
        rows = rows.filter(time_updated__lt=before)
    if not archived:
        rows = rows.filter(time_archived=None)
    if roots:
        rows = rows.filter(parent=None)
    if search:
        rows = rows.filter(title__icontains=search)
    return rows.order_by("-used", "id")


def wires(rows: QuerySet[Session]) -> list[dict[str, Any]]:
    """Their wire objects from the columns alone: of a thousand sessions, making objects of them is most of
    the work."""
    found = cast("list[Session]", rows.values_list(*_COLUMNS, named=True))
    return [session_wire(row, worktree_of(row.project_id)) for row in found]

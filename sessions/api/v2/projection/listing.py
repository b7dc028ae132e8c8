"""Sessions by the time they were made."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Q

from sessions.api.v2.projection.telling import revert_of
from sessions.core.models import Project, Session
from sessions.core.paths import normalized
from sessions.core.store.rows import session_wire
from sessions.core.wire.v2.session import SessionV2, session_of


def page(
    start: tuple[int, str] | None,
    *,
    newest: bool,
    limit: int,
    search: str = "",
    directory: str = "",
    project: str = "",
    subpath: str = "",
) -> list[Session]:
    """At most `limit` sessions that were made after one (its time in ms and id), or with `newest` before it,
    the newest first; None begins at the end. `subpath` is a folder of their project, with all below it."""
    rows = Session.objects.filter(time_deleted=None).select_related("project")
    if search:
        rows = rows.filter(title__icontains=search)
    if directory:
        rows = rows.filter(directory=normalized(directory))
    if project:
        rows = rows.filter(project_id=project)
    if subpath:
        rows = rows.filter(_within(subpath, project))
    if start is not None:
        time, id = start
        # Of one millisecond the later has the smaller id: those of sessions descend.
        later = Q(time_created__gt=time) | Q(time_created=time, id__lt=id)
        earlier = Q(time_created__lt=time) | Q(time_created=time, id__gt=id)
        rows = rows.filter(earlier if newest else later)
    order = ("-time_created", "id") if newest else ("time_created", "-id")
    return list(rows.order_by(*order)[:limit])


def shapes_of(rows: Iterable[Session]) -> list[SessionV2]:
    """The sessions as clients see them."""
    return [session_of({**session_wire(row), "revert": revert_of(row)}) for row in rows]


def is_taken(session_id: str) -> bool:
    """Whether there is a row of this id, deleted or not."""
    return Session.objects.filter(id=session_id).exists()


def _within(subpath: str, project: str) -> Q:
    """In this folder of the project, or of any project."""
    found = Q(pk__in=())
    rows = Project.objects.filter(id=project) if project else Project.objects.all()
    for id, worktree in rows.values_list("id", "worktree"):
        folder = normalized(f"{worktree}/{subpath}")
        found |= Q(project_id=id) & (Q(directory=folder) | Q(directory__startswith=f"{folder}/"))
    return found

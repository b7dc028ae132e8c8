"""Lists of sessions, as rows, as wire objects and as JSON."""

from __future__ import annotations

import json
from collections import namedtuple
from typing import Any, cast

from django.db.models import BooleanField, JSONField, Q, QuerySet

from sessions.core.bounded import LRU
from sessions.core.models import Project, Session
from sessions.core.paths import normalized
from sessions.core.wire import ours
from sessions.core.wire.base import tight

from .rows import session_wire, worktree_of

_UNSHOWN = frozenset(
    "window status error used unread forked_from forked_at time_deleted time_pinned session_folder "
    "time_filed lease_owner lease_until lease_epoch stop_epoch".split()
)
_FIELDS = [field for field in Session._meta.concrete_fields if field.name not in _UNSHOWN]
_COLUMNS = [field.attname for field in _FIELDS]
_PROJECT = _COLUMNS.index("project_id")
_Columns = namedtuple("_Columns", _COLUMNS)  # type: ignore[misc]
_CONVERTED = [
    (place, json.loads if isinstance(field, JSONField) else bool)
    for place, field in enumerate(_FIELDS)
    if isinstance(field, JSONField | BooleanField)
]
"""The columns that a database gives in another form, and what makes values of them."""
_encoded: LRU[str] = LRU(16_000_000)
"""JSON of sessions by what their rows have, in characters: of a thousand, few are others than before."""


def matching(
    project: Project | None = None,
    *,
    search: str = "",
    roots: bool = False,
    archived: bool = False,
    pinned: bool = False,
    filed: bool = False,
    label: str = "",
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
    if pinned:
        rows = rows.filter(time_pinned__isnull=False)
    if filed:
        rows = rows.filter(session_folder__isnull=False)
    if label:
        rows = rows.filter(labels=label)
    if roots:
        rows = rows.filter(parent=None)
    if search:
        rows = rows.filter(title__icontains=search)
    return rows.order_by("-used", "id")


def wires(rows: QuerySet[Session]) -> list[dict[str, Any]]:
    """Their wire objects from the columns alone: of a thousand sessions, making objects of them is most of
    the work."""
    return [_wire(values) for values in _values(rows)]


def encoded(rows: QuerySet[Session], *, own: bool) -> str:
    """The JSON array of their wire objects; `own`: with what is ours (`wire.ours`)."""

    def text(values: tuple[Any, ...]) -> str:
        key = own, worktree_of(values[_PROJECT]), values
        return _encoded.get(key, lambda: _weighed(_wire(values), own=own))

    return f"[{','.join(map(text, _values(rows)))}]"


def _values(rows: QuerySet[Session]) -> list[tuple[Any, ...]]:
    """The columns as the database gives them."""
    compiler = rows.values_list(*_COLUMNS).query.get_compiler(using=rows.db)
    return [values for chunk in compiler.execute_sql() for values in chunk]


def _wire(values: tuple[Any, ...]) -> dict[str, Any]:
    given = list(values)
    for place, convert in _CONVERTED:
        if given[place] is not None:
            given[place] = convert(given[place])
    row = cast("Session", _Columns(*given))
    return session_wire(row, worktree_of(row.project_id))


def _weighed(info: dict[str, Any], *, own: bool) -> tuple[str, int]:
    text = tight(info if own else ours.session(info))
    return text, 4 * len(text)

"""One page of the log from the rows: calls that changed files, and operations, newest first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Self

from django.db.models import Max, Q, QuerySet

from sessions.models import FileChange, Operation, Project
from sessions.models.ledger import unpack_path

PAGE = 30
CALLS = {"edit": "Edits", "command": "Commands", "formatter": "Formatters"}
_ORIGINS = {"edit": ("", "edit"), "command": ("command", "overlap")}
OPERATIONS = {"keep": "Kept and dropped", "undo": "Undos", "redo": "Redos"}
KINDS = CALLS | OPERATIONS
"""What the log can be filtered by, with its words."""

_OPERATION_KINDS = {
    "keep": ("keep", "drop", "restage"),
    "undo": ("undo", "revert"),
    "redo": ("redo", "unrevert"),
}
_LAST = 2**62


@dataclass(frozen=True, slots=True)
class Asked:
    """A filter, and where the page before ended: before that ledger entry and that operation."""

    session: str = ""
    file: str = ""
    kind: str = ""
    change: int = _LAST
    operation: str = "~"

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Self:
        """From `session`, `file`, `kind` and `before` of a query; bad input is left out."""
        change, _, operation = query.get("before", "").partition(".")
        kind = query.get("kind", "")
        return cls(
            query.get("session", "")[:64],
            query.get("file", "").strip()[:200],
            kind if kind in KINDS else "",
            int(change) if change.isdecimal() and len(change) < 19 else _LAST,
            operation[:64] or "~",
        )

    @property
    def filtered(self) -> bool:
        return bool(self.session or self.file or self.kind)

    @property
    def paged(self) -> bool:
        """Whether newer entries are shown already."""
        return self.change != _LAST


@dataclass(frozen=True, slots=True)
class Call:
    """The ledger entries of one tool call, oldest first."""

    rows: list[FileChange]

    @property
    def newest(self) -> FileChange:
        return self.rows[-1]


@dataclass(frozen=True, slots=True)
class Found:
    """`before` is the cursor of what is older; empty at the end of the log."""

    entries: list[Call | Operation] = field(default_factory=list)
    before: str = ""


def page(project: Project, asked: Asked) -> Found:
    """The newest entries that a filter leaves before a cursor."""
    calls = [] if asked.kind in OPERATIONS else _calls(project, asked)
    operations = [] if asked.kind in CALLS else _operations(project, asked)
    both: list[Call | Operation] = [*calls, *operations]
    both.sort(key=_time, reverse=True)
    shown = both[:PAGE]
    return Found(shown, _cursor(shown, asked) if len(both) > PAGE else "")


def call(session_id: str, part_id: str) -> Call | None:
    rows = _by_tools().filter(session_id=session_id, part_id=part_id)
    listed = list(rows.select_related("session__project", "for_session").order_by("id"))
    return Call(listed) if listed and part_id else None


def _time(entry: Call | Operation) -> int:
    return entry.newest.time_created if isinstance(entry, Call) else entry.time_created


def _cursor(shown: Iterable[Call | Operation], asked: Asked) -> str:
    change, operation = asked.change, asked.operation
    for entry in shown:
        if isinstance(entry, Call):
            change = min(change, entry.newest.pk)
        else:
            operation = min(operation, entry.id)
    return f"{change}.{operation}"


def _by_tools() -> QuerySet[FileChange]:
    """What calls wrote; what a person kept of staged edits is an operation's."""
    return FileChange.objects.filter(operation=None).exclude(origin="kept")


def _calls(project: Project, asked: Asked) -> list[Call]:
    rows = _by_tools().filter(project=project)
    groups = _matching(rows, asked).order_by().values_list("session_id", "part_id").annotate(last=Max("id"))
    found = list(groups.filter(last__lt=asked.change).order_by("-last")[: PAGE + 1])
    whole: dict[tuple[str, str], list[FileChange]] = {}
    parts = rows.filter(part_id__in=[part_id for _, part_id, _ in found])
    for row in parts.select_related("session", "for_session").order_by("id"):
        whole.setdefault((row.session_id, row.part_id), []).append(row)
    return [Call(whole[session_id, part_id]) for session_id, part_id, _ in found]


def _matching(rows: QuerySet[FileChange], asked: Asked) -> QuerySet[FileChange]:
    if asked.session:
        rows = rows.filter(Q(session_id=asked.session) | Q(for_session_id=asked.session))
    if asked.file:
        rows = rows.filter(path__icontains=asked.file)
    if asked.kind:
        rows = rows.filter(origin__in=_ORIGINS.get(asked.kind, (asked.kind,)))
    return rows


def _operations(project: Project, asked: Asked) -> list[Operation]:
    rows = Operation.objects.filter(project=project, id__lt=asked.operation)
    if asked.session:
        rows = rows.filter(session_id=asked.session)
    if asked.kind:
        rows = rows.filter(kind__in=_OPERATION_KINDS[asked.kind])
    found = rows.select_related("session").order_by("-id").iterator()
    return list(islice((row for row in found if _touches(row, asked.file.lower())), PAGE + 1))


def _touches(operation: Operation, file: str) -> bool:
    """Whether an operation has a file with this in its path."""
    return not file or any(file in unpack_path(entry["path"]).lower() for entry in operation.outcome)

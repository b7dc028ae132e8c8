"""Sessions of all projects as rows of one list: each kind of row is read in one statement, however many
sessions there are. Everything here runs on the ORM's thread."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import and_
from typing import Any

from django.db.models import Count, Max, Q, QuerySet

from sessions.core.models import Label, Message, Part, PermissionRequest, QuestionRequest, Session, Todo
from sessions.core.wire.messages import ABORTED, SERVER_ENDED

from . import family, labels
from .rows import part_wire

MOST = 300
"""Sessions that are anything but idle: more of them at once nobody looks through."""
PAGE = 60
"""Idle ones at once; older ones come when they are asked for."""
_BUSY = ("busy", "retry")
_ENDED = ("completed", "cancelled")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which sessions: all `words` are in title, project or model. `projects` are those that the person sees,
    None for all."""

    words: str = ""
    project: str = ""
    label: str = ""
    archived: bool = False
    projects: frozenset[str] | None = None


@dataclass(slots=True)
class Line:
    """A session with what a list says of it: `waits` for the person, it or one that it started; `parts` are
    those (wire) of its last message while it works. `cost` is with all that it started."""

    session: Session
    waits: bool = False
    works: bool = False
    labels: Sequence[Label] = ()
    below: list[Line] = field(default_factory=list)
    parts: list[dict[str, Any]] = field(default_factory=list)
    todos: int = 0
    done: int = 0
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class Found:
    """`lines` by last use. `older` is the cursor of the idle ones before them, 0 where there are no more."""

    lines: list[Line]
    older: int = 0


def found(wanted: Wanted, *, before: int = 0) -> Found:
    """What is anything but idle, and a page of all else; with `before` only the next page of that."""
    waits = waiting()
    active = _busy() | Q(unread=True) | _failed() | Q(id__in=waits)
    rows = _matching(wanted)
    idle = rows.exclude(id__in=rows.filter(active).values("id"))
    if before:
        idle = idle.filter(used__lt=before)
    page = list(idle[: PAGE + 1])
    shown = [*(() if before else rows.filter(active)[:MOST]), *page[:PAGE]]
    return Found(_lines(shown, waits), page[PAGE - 1].used if len(page) > PAGE else 0)


def lines(wanted: Wanted, ids: Iterable[str]) -> dict[str, Line | None]:
    """Of sessions, or those above them, the lines by id; None for one that is not wanted (any more)."""
    tops = family.roots(ids)
    rows = list(_matching(wanted).filter(id__in=tops))
    return dict.fromkeys(tops) | {line.session.id: line for line in _lines(rows, waiting())}


def waiting() -> set[str]:
    """The topmost sessions that wait for a person, themselves or below."""
    asked: set[str] = set()
    for model in (PermissionRequest, QuestionRequest):
        rows = model._default_manager.filter(state="pending", session__time_deleted=None)
        asked |= set(rows.values_list("session_id", flat=True))
    return family.roots(asked)


def _busy() -> Q:
    return Q(status__type__in=_BUSY)


def _failed() -> Q:
    """Failed or cut off, and not stopped by a person."""
    failed = Q(error__isnull=False) & ~Q(error__name=ABORTED)
    return failed | Q(error__data__message=SERVER_ENDED)


def _matching(wanted: Wanted) -> QuerySet[Session]:
    rows = Session.objects.filter(parent=None, time_deleted=None)
    if not wanted.archived:
        rows = rows.filter(time_archived=None)
    if wanted.projects is not None:
        rows = rows.filter(project__in=wanted.projects)
    if wanted.project:
        rows = rows.filter(project=wanted.project)
    if wanted.label:
        rows = rows.filter(labels=wanted.label)
    if words := wanted.words.split():
        rows = rows.filter(reduce(and_, map(_said, words)))
    return rows.select_related("project", "session_folder").order_by("-used", "id")


def _said(word: str) -> Q:
    return Q(title__icontains=word) | Q(project__name__icontains=word) | Q(model_id__icontains=word)


def _lines(rows: Sequence[Session], waits: Collection[str]) -> list[Line]:
    tops = [Line(row, row.id in waits, _works(row), cost=row.cost) for row in rows]
    every = {line.session.id: line for line in tops}
    _put_below(every)
    labelled = labels.by_session([line.session.id for line in tops])
    for line in tops:
        line.labels = labelled.get(line.session.id, ())
    counted = Todo.objects.filter(session_id__in=list(every)).values_list("session_id")
    for id, todos, done in counted.annotate(
        number=Count("id"), over=Count("id", filter=Q(status__in=_ENDED))
    ):
        every[id].todos, every[id].done = todos, done
    for id, parts in _newest([id for id, line in every.items() if _works(line.session)]).items():
        every[id].parts = parts
    return tops


def _works(row: Session) -> bool:
    return (row.status or {}).get("type") in _BUSY


def _put_below(every: dict[str, Line]) -> None:
    """The sessions that those started: all of them cost, those at work are shown below theirs."""
    top = dict(every)
    newest = list(every)
    while newest:
        rows = list(Session.objects.filter(parent_id__in=newest).order_by("time_created", "id"))
        newest = [row.id for row in rows]
        for row in rows:
            line = top[row.id] = top[str(row.parent_id)]
            line.cost += row.cost
            if row.time_deleted is None and _works(row):
                line.works = True
                every[row.id] = Line(row, works=True, cost=row.cost)
                line.below.append(every[row.id])


def _newest(ids: Sequence[str]) -> Mapping[str, list[dict[str, Any]]]:
    """The parts of the last message of each session, in order."""
    if not ids:
        return {}
    rows = Message.objects.filter(session_id__in=ids).values("session_id")
    last = [row["last"] for row in rows.annotate(last=Max("id"))]
    parts: dict[str, list[dict[str, Any]]] = {}
    for row in Part.objects.filter(message_id__in=last).order_by("id"):
        parts.setdefault(row.session_id, []).append(part_wire(row))
    return parts

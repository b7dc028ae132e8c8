"""What goes on at the nodes of a team, for a front's page."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from django.db import DatabaseError
from django.db.models import Exists, OuterRef, Q, Sum

from opencode_web.nodes import registry
from opencode_web.nodes.elsewhere import in_rows_of
from opencode_web.nodes.models import Node
from opencode_web.team import PATH
from sessions.core.db import in_db
from sessions.core.models import PermissionRequest, Project, QuestionRequest, Session

logger = logging.getLogger(__name__)

MOST_PROJECTS = 8
MOST_SESSIONS = 5


@dataclass(frozen=True, slots=True)
class SessionRow:
    id: str
    title: str
    time_updated: int
    busy: bool
    waits: bool
    url: str


@dataclass(frozen=True, slots=True)
class ProjectRow:
    """With the sessions used last, those that are at work or wait for somebody first."""

    name: str
    worktree: str
    url: str
    sessions: Sequence[SessionRow]


@dataclass(frozen=True, slots=True)
class Machine:
    """`seen` is its last beat (ms since 1970), `cost` what all of its sessions have cost, in US dollars, and
    `problem` why its rows cannot be read."""

    name: str
    lives: bool
    seen: int
    turns: int
    version: str
    url: str
    cost: float = 0.0
    projects: Sequence[ProjectRow] = field(default=())
    problem: str = ""


async def machines(base: str) -> list[Machine]:
    """All of them by name; `base` is the path below which the front is."""
    return [await _machine(base, node) for node in await in_db(registry.nodes)]


async def _machine(base: str, node: Node) -> Machine:
    lives = bool(node.lives)  # type: ignore[attr-defined]  # an annotation of the query
    turns = node.load.get("turns", 0) if lives else 0
    machine = Machine(node.name, lives, node.seen, turns, node.version, f"{base}{PATH}{node.name}/")
    try:
        cost, found = await in_rows_of(node.name, _rows, machine.url)
    except DatabaseError as error:
        logger.info("the rows of node %s cannot be read: %s", node.name, error)
        return replace(machine, problem="Its rows cannot be read: it may be of another version.")
    return replace(machine, cost=cost, projects=found)


def _rows(url: str) -> tuple[float, list[ProjectRow]]:
    cost = Session.objects.aggregate(cost=Sum("cost"))["cost"] or 0.0
    return cost, _projects(url)


def _projects(url: str) -> list[ProjectRow]:
    rows = Project.objects.order_by("-time_updated")[:MOST_PROJECTS]
    return [_project(row, f"{url}p/{row.id}/") for row in rows]


def _project(row: Project, url: str) -> ProjectRow:
    asked = PermissionRequest.objects.filter(session=OuterRef("pk"), state="pending")
    questions = QuestionRequest.objects.filter(session=OuterRef("pk"), state="pending")
    sessions = Session.objects.filter(project=row, parent=None, time_deleted=None, time_archived=None)
    sessions = sessions.annotate(waits=Q(Exists(asked)) | Q(Exists(questions)))
    listed = [
        SessionRow(
            session.id,
            session.title,
            session.time_updated,
            bool(session.lease_owner),
            session.waits,
            f"{url}s/{session.id}",
        )
        for session in sessions.order_by("-waits", "-time_updated")[:MOST_SESSIONS]
    ]
    return ProjectRow(row.name, row.worktree, url, listed)

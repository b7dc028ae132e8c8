"""What goes on at the nodes of a team, for a front's page."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from django.db import DatabaseError
from django.db.models import Sum

from opencode_web.nodes import registry
from opencode_web.nodes.elsewhere import in_rows_of
from opencode_web.nodes.models import Node
from opencode_web.team import PATH
from sessions.core.db import in_db
from sessions.core.models import Project, Session
from sessions.core.store import children, permissions, questions
from sessions.core.store import sessions as session_store
from sessions.web.live.states import STATES, state_of

logger = logging.getLogger(__name__)

Shows = Callable[[str, str], bool]
"""Whether a project of a node, by their name and id, is shown."""
MOST_PROJECTS = 8
MOST_SESSIONS = 5


def everything(node: str, project: str) -> bool:
    """Where a front has one login."""
    return True


@dataclass(frozen=True, slots=True)
class SessionRow:
    """`state` is one of STATES of the list of sessions, `words` what that is called."""

    id: str
    title: str
    time_updated: int
    state: str
    words: str
    url: str


@dataclass(frozen=True, slots=True)
class ProjectRow:
    """With the sessions used last, those of them that wait for somebody first."""

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


async def machines(base: str, shows: Shows = everything) -> list[Machine]:
    """All of them by name; `base` is the path below which the front is."""
    return [await _machine(base, node, shows) for node in await in_db(registry.nodes)]


async def _machine(base: str, node: Node, shows: Shows) -> Machine:
    lives = bool(node.lives)  # type: ignore[attr-defined]  # an annotation of the query
    turns = node.load.get("turns", 0) if lives else 0
    machine = Machine(node.name, lives, node.seen, turns, node.version, f"{base}{PATH}{node.name}/")
    try:
        cost, found = await in_rows_of(node.name, _rows, machine.url, partial(shows, node.name))
    except DatabaseError as error:
        logger.info("the rows of node %s cannot be read: %s", node.name, error)
        return replace(machine, problem="Its rows cannot be read: it may be of another version.")
    return replace(machine, cost=cost, projects=found)


def _rows(url: str, shows: Callable[[str], bool]) -> tuple[float, list[ProjectRow]]:
    cost = Session.objects.aggregate(cost=Sum("cost"))["cost"] or 0.0
    waiting = {row.session_id for row in permissions.pending()}
    waiting = children.roots(waiting | {row.session_id for row in questions.pending()})
    rows = [row for row in Project.objects.order_by("-time_updated") if shows(row.id)]
    return cost, [_project(row, f"{url}p/{row.id}/", waiting) for row in rows[:MOST_PROJECTS]]


def _project(row: Project, url: str, waiting: Collection[str]) -> ProjectRow:
    sessions = session_store.listing(row, roots=True, archived=False, limit=MOST_SESSIONS)
    listed = [_session(session, f"{url}s/{session.id}", session.id in waiting) for session in sessions]
    listed.sort(key=lambda session: session.state != "waiting")
    return ProjectRow(row.name, row.worktree, url, listed)


def _session(row: Session, url: str, waits: bool) -> SessionRow:
    state = state_of(row, waits)
    return SessionRow(row.id, row.title, row.time_updated, state, STATES[state], url)

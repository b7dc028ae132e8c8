"""What goes on at the nodes of a team, for a front's page."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from django.db import DatabaseError
from django.db.models import Sum
from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop

from opencode_web.nodes import registry, workspaces
from opencode_web.nodes.elsewhere import in_rows_of
from opencode_web.nodes.models import Node, Workspace
from opencode_web.team import PATH
from sessions.core.db import in_db
from sessions.core.models import Project, Session
from sessions.core.store import family, permissions, questions
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
    """With the sessions used last, those of them that wait for somebody first. `time_parked` is of what
    moment (ms) a state of its files is parked, 0 without one, and `problem` why the last try failed;
    `successor` is the node at which it goes on."""

    id: str
    name: str
    worktree: str
    url: str
    sessions: Sequence[SessionRow]
    time_parked: int = 0
    problem: str = ""
    successor: str = ""


@dataclass(frozen=True, slots=True)
class Other:
    """A machine that lives, and its page on which a project of another one comes to it."""

    name: str
    url: str


@dataclass(frozen=True, slots=True)
class Machine:
    """`state` is `lives`, `draining`, `drained` or `away`; `seen` its last beat (ms since 1970), `turns` how
    many run and `capacity` how many may (0: no limit), `cost` what its sessions have cost, in US dollars,
    `problem` why its rows cannot be read. `others` are the machines to which its projects can come."""

    name: str
    lives: bool
    state: str
    seen: int
    turns: int
    capacity: int
    version: str
    url: str
    cost: float = 0.0
    projects: Sequence[ProjectRow] = field(default=())
    problem: str = ""
    others: Sequence[Other] = field(default=())


async def machines(base: str, shows: Shows = everything) -> list[Machine]:
    """All of them by name; `base` is the path below which the front is."""
    found = [await _machine(base, node, shows) for node in await in_db(registry.nodes)]
    living = [Other(machine.name, f"{machine.url}machines/restore") for machine in found if machine.lives]
    return [
        replace(machine, others=[other for other in living if other.name != machine.name])
        for machine in found
    ]


async def _machine(base: str, node: Node, shows: Shows) -> Machine:
    lives = bool(node.lives)  # type: ignore[attr-defined]  # an annotation of the query
    load = node.load if lives else {}
    machine = Machine(
        name=node.name,
        lives=lives,
        state=state(node),
        seen=node.seen,
        turns=load.get("turns", 0),
        capacity=load.get("capacity", 0),
        version=node.version,
        url=f"{base}{PATH}{node.name}/",
    )
    try:
        cost, found = await in_rows_of(node.name, _rows, machine.url, partial(shows, node.name))
        rows = {row.project: row for row in await in_db(workspaces.at_node, node.name)}
    except DatabaseError as error:
        logger.info("the rows of node %s cannot be read: %s", node.name, error)
        return replace(machine, problem=gettext("Its rows cannot be read: it may be of another version."))
    return replace(machine, cost=cost, projects=[_with(project, rows.get(project.id)) for project in found])


WORDS = (gettext_noop("away"), gettext_noop("draining"), gettext_noop("drained"))
"""States of machines, which pages translate."""


def state(node: Node) -> str:
    """One of those of `Machine`, of a row of `registry.nodes`."""
    if not node.lives:  # type: ignore[attr-defined]  # an annotation of the query
        return "away"
    if not node.draining:
        return "lives"
    return "draining" if node.load.get("turns", 0) else "drained"


def _rows(url: str, shows: Callable[[str], bool]) -> tuple[float, list[ProjectRow]]:
    cost = Session.objects.aggregate(cost=Sum("cost"))["cost"] or 0.0
    waiting = {row.session_id for row in permissions.pending()}
    waiting = family.roots(waiting | {row.session_id for row in questions.pending()})
    rows = [row for row in Project.objects.order_by("-time_updated") if shows(row.id)]
    return cost, [_project(row, f"{url}p/{row.id}/", waiting) for row in rows[:MOST_PROJECTS]]


def _with(project: ProjectRow, row: Workspace | None) -> ProjectRow:
    if row is None:
        return project
    return replace(project, time_parked=row.time_parked, problem=row.problem, successor=row.successor)


def _project(row: Project, url: str, waiting: Collection[str]) -> ProjectRow:
    sessions = session_store.listing(row, roots=True, archived=False, limit=MOST_SESSIONS)
    listed = [_session(session, f"{url}s/{session.id}", session.id in waiting) for session in sessions]
    listed.sort(key=lambda session: session.state != "waiting")
    return ProjectRow(row.id, row.name, row.worktree, url, listed)


def _session(row: Session, url: str, waits: bool) -> SessionRow:
    state = state_of(row, waits)
    return SessionRow(row.id, row.title, row.time_updated, state, STATES[state], url)

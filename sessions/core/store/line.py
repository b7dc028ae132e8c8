"""The line of sessions whose next turn waits for a place, fair between projects.

It is made of rows alone: every process has the same one, and a session's place can be told anywhere.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Max, Min, QuerySet

from sessions.core import bus
from sessions.core.gate import OPEN, gate
from sessions.core.models import AdmittedPrompt, Session
from sessions.core.store import comparisons, goals, quotas

MOVED = "session.line"
"""The event, told to listeners alone: what waits before a session is another thing than before."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A session in the line."""

    session_id: str
    project_id: str


def line() -> list[Waiting]:
    """The sessions that wait, in the order in which they begin: of each project what waited longest, and the
    projects in turn. Not those of subagents, since a turn that runs waits for them, nor what a gate or a
    quota holds."""
    waiting: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    for session_id, project_id, time in _waiting():
        waiting[project_id].append((time, session_id))
    if not waiting:
        return []
    others = _roots().filter(project__in=waiting).order_by()
    running = Counter(others.exclude(lease_owner="").values_list("project_id", flat=True))
    idle = others.exclude(id__in=[id for sessions in waiting.values() for _, id in sessions])
    used = dict(idle.values_list("project_id").annotate(Max("used")))
    numbered = [
        (running[project_id] + number, used.get(project_id, 0), time, session_id, project_id)
        for project_id, sessions in waiting.items()
        if gate(project_id) == OPEN
        for number, (time, session_id) in enumerate(sorted(sessions))
    ]
    found = [Waiting(session_id, project_id) for *_, session_id, project_id in sorted(numbered)]
    if not quotas.are_set():
        return found
    admitted = set(quotas.admitted(one.session_id for one in found))
    return [one for one in found if one.session_id in admitted]


def beside(session_ids: Collection[str]) -> list[str]:
    """Those of sessions that need no place: a subagent's, in which somebody said something."""
    rows = Session.objects.filter(id__in=session_ids).exclude(parent=None)
    return [row.id for row in rows.only("project_id") if not gate(row.project_id).closed]


def place(session: Session) -> int:
    """Its place, from 1; 0 where it does not wait for one."""
    ahead = [waiting.session_id for waiting in line()]
    return ahead.index(session.id) + 1 if session.id in ahead else 0


def tell(waiting: Waiting) -> None:
    """That its place is another one."""
    properties = {"sessionID": waiting.session_id}
    bus.publish(bus.Event(MOVED, properties, project_id=waiting.project_id, session_id=waiting.session_id))


def _waiting() -> list[tuple[str, str, int]]:
    """Session, project and since when (ms)."""
    free = _roots().filter(lease_owner="")
    prompted = AdmittedPrompt.objects.filter(resume=True, session__in=free).order_by()
    named = prompted.values_list("session_id", "session__project_id")
    found = {
        session: (session, project, time) for session, project, time in named.annotate(Min("time_created"))
    }
    due = free.filter(messages__resumption__state="due").order_by()
    for row in due.values_list("id", "project_id", "messages__time_created"):
        found.setdefault(row[0], row)
    pursued = goals.free().filter(session__in=free)
    for id, project, time in pursued.values_list("session_id", "session__project_id", "time_active"):
        found.setdefault(id, (id, project, time or 0))
    compared = comparisons.free().filter(session__in=free)
    for id, project, time in compared.values_list("session_id", "session__project_id", "time_claimed"):
        found.setdefault(str(id), (str(id), str(project), time))
    return list(found.values())


def _roots() -> QuerySet[Session]:
    return Session.objects.filter(parent=None, time_deleted=None)

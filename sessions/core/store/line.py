"""The line of sessions whose next turn waits for a place, fair between projects.

It is made of rows alone: every process has the same one, and a session's place can be told anywhere.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from django.db.models import Max, Min, QuerySet

from sessions.core import bus
from sessions.core.gate import gate
from sessions.core.models import AdmittedPrompt, Session

MOVED = "session.line"
"""The event, told to listeners alone: what waits before a session is another thing than before."""


def line() -> list[str]:
    """The sessions that wait, in the order in which they begin: of each project what waited longest, and the
    projects in turn. Not those of subagents, since a turn that runs waits for them, nor what a gate holds."""
    waiting: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    for session_id, project_id, time in _waiting():
        waiting[project_id].append((time, session_id))
    others = _roots().filter(project__in=waiting).order_by()
    running = Counter(others.exclude(lease_owner="").values_list("project_id", flat=True))
    idle = others.exclude(id__in=[id for sessions in waiting.values() for _, id in sessions])
    used = dict(idle.values_list("project_id").annotate(Max("used")))
    numbered = [
        (running[project_id] + number, used.get(project_id, 0), time, session_id)
        for project_id, sessions in waiting.items()
        if not (gate(project_id).closed or gate(project_id).waiting)
        for number, (time, session_id) in enumerate(sorted(sessions))
    ]
    return [session_id for *_, session_id in sorted(numbered)]


def is_beside(session_id: str) -> bool:
    """Whether a session needs no place: a subagent's, in which somebody said something."""
    row = Session.objects.exclude(parent=None).filter(id=session_id).first()
    return row is not None and not gate(row.project_id).closed


def place(session: Session) -> int:
    """Its place, from 1; 0 where it does not wait for one."""
    ahead = line()
    return ahead.index(session.id) + 1 if session.id in ahead else 0


def tell(session_id: str) -> None:
    """That its place is another one."""
    row = Session.objects.only("project_id").get(id=session_id)
    properties = {"sessionID": session_id}
    bus.publish(bus.Event(MOVED, properties, project_id=row.project_id, session_id=session_id))


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
    return list(found.values())


def _roots() -> QuerySet[Session]:
    return Session.objects.filter(parent=None, time_deleted=None)

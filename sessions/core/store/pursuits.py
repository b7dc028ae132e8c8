"""What a session has to do by itself where nothing waits in its inbox: to judge its goal, or to be measured
as an attempt of a comparison."""

from __future__ import annotations

from django.db.models import Exists, OuterRef

from sessions.core.models import Attempt, Goal, Session
from sessions.core.prepared import Prepared

from . import comparisons, goals, inbox

_DUE = Prepared(
    lambda session_id: (
        Session.objects.filter(id=session_id)
        .filter(
            Exists(Goal.objects.filter(session_id=OuterRef("id"), state="active"))
            | Exists(Attempt.objects.filter(session_id=OuterRef("id"), state__in=("running", "judging")))
        )
        .only("id")
    )
)


def due(session_id: str) -> bool:
    """Whether a session has something to do by itself. One statement: every turn asks."""
    return bool(_DUE.rows(session_id))


def has_work(session_id: str) -> bool:
    """Whether a turn is to go on, a prompt waits, or something is to be done by itself."""
    return inbox.has_work(session_id) or due(session_id)


def sessions_due() -> list[str]:
    """Ids of sessions with something to do by themselves, in which nobody works."""
    found = [
        goals.free().values_list("session_id", flat=True),
        comparisons.free().values_list("session_id", flat=True),
    ]
    return list(dict.fromkeys(str(id) for ids in found for id in ids))


def stop(session_id: str) -> None:
    """A person stops a session: its goal is paused, and it is measured no further."""
    goals.pause(session_id)
    comparisons.interrupted(session_id)

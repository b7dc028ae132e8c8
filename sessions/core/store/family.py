"""How sessions stand to each other: what is above one, and what it started.

A session gets its parent when it is made, which is one that is there already, so that there is no circle.
"""

from __future__ import annotations

from collections.abc import Iterable

from sessions.core.models import Session
from sessions.core.prepared import Prepared


def lineage(session: Session) -> list[Session]:
    """A session and those above it, the topmost last."""
    found = [session]
    while (above := found[-1].parent) is not None:
        found.append(above)
    return found


def topmost(session: Session) -> Session:
    """The session that a person prompted, and that is listed: the one above all others."""
    return lineage(session)[-1]


def line(session_id: str) -> list[Session]:
    """The same by an id, the topmost first; empty where there is no such session."""
    found = Session.objects.filter(id=session_id).first()
    return lineage(found)[::-1] if found else []


def roots(session_ids: Iterable[str]) -> set[str]:
    """The topmost sessions above these, by a statement a generation; one that is gone stands for itself."""
    found: set[str] = set()
    newest = set(session_ids)
    while newest:
        above = dict(Session.objects.filter(id__in=newest).values_list("id", "parent_id"))
        found |= {id for id in newest if not above.get(id)}
        newest = {parent for parent in above.values() if parent}
    return found


def below(session_id: str) -> list[Session]:
    """The sessions that a session started, and that those started; also deleted ones."""
    newest = _STARTED.rows(session_id)
    found = [*newest]
    while newest:
        newest = list(Session.objects.filter(parent_id__in=[row.id for row in newest]))
        found += newest
    return found


_STARTED = Prepared(lambda session_id: Session.objects.filter(parent_id=session_id))


def of(session_id: str) -> list[str]:
    """A session and those below it that are not deleted."""
    return [session_id, *(row.id for row in below(session_id) if row.time_deleted is None)]

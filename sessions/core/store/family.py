"""How sessions stand to each other: what is above one, and what it started."""

from __future__ import annotations

from collections.abc import Iterable

from sessions.core.models import Session
from sessions.core.prepared import Prepared


def lineage(session: Session) -> list[Session]:
    """A session and those above it, the topmost last. A circle, which a damaged import can have, ends."""
    found = [session]
    while (above := found[-1].parent) is not None and above not in found:
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
    """The topmost sessions above these; one that is gone stands for itself."""
    asked = list(session_ids)
    known = Session.objects.in_bulk(asked)
    return {topmost(known[id]).id if id in known else id for id in asked}


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

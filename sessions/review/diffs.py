"""What a session or one of its turns changed: for the API as patches, for the page file by file."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from sessions.db import in_db
from sessions.models import Session
from sessions.review.filediffs import file_diffs
from sessions.review.scope import NetChange, net
from sessions.store import ledger, reverts, summary
from sessions.tracking import Tracker, tracker
from sessions.wire.base import FileDiff


@dataclass(frozen=True, slots=True)
class Changed:
    """The net changes of a scope, and the tracker that has their contents."""

    files: list[NetChange]
    project: Tracker


async def changed(session: Session, message_id: str | None = None) -> Changed:
    """What the session has changed by now, or what the turn of a message did; undone changes do not count."""
    project = await asyncio.to_thread(tracker, session.project)
    rows = await in_db(_changes, session.id, message_id)
    return Changed(rows, project)


async def session_diff(session: Session, message_id: str | None = None) -> list[FileDiff]:
    """The same as the wire's FileDiffs, each with a bounded patch."""
    found = await changed(session, message_id)
    return await asyncio.to_thread(file_diffs, found.files, found.project.objects)


def _changes(session_id: str, message_id: str | None) -> list[NetChange]:
    if not message_id:
        return net(ledger.by_tools(session_id))
    point = reverts.locate(session_id, message_id)
    if point is None:
        return []
    end = summary.next_prompt(session_id, point.message_id)
    return net(ledger.by_tools(session_id, since=point.message_id, before=end))

"""What a session changed, kept with it and told."""

from __future__ import annotations

from typing import Any

from sessions.core.models import Message
from sessions.core.wire.base import FileDiff

from . import events
from . import sessions as session_store


def next_prompt(session_id: str, message_id: str) -> str:
    """The first user message after a message; empty when there is none."""
    later = Message.objects.filter(session_id=session_id, role="user", id__gt=message_id)
    return later.order_by("id").values_list("id", flat=True).first() or ""


def write(session_id: str, diffs: list[FileDiff], **columns: Any) -> None:
    """Set the counts of the session, and other columns with them, and tell what it has changed in all."""
    row = session_store.update(session_id, summary=_totals(diffs), **columns)
    if row is not None:
        properties = {"sessionID": session_id, "diff": [diff.wire() for diff in diffs]}
        events.record("session.diff", properties, project=row.project_id, session=session_id)


def _totals(diffs: list[FileDiff]) -> dict[str, int]:
    """The wire's summary of a session."""
    return {
        "additions": sum(diff.additions for diff in diffs),
        "deletions": sum(diff.deletions for diff in diffs),
        "files": len(diffs),
    }

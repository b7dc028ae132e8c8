"""The place of what is added to a conversation: messages are ordered by their ids."""

from __future__ import annotations

from sessions.core.ids import ascending
from sessions.core.models import Message
from sessions.core.prepared import Prepared


def last_id(session_id: str) -> str:
    """The id of the newest message; empty where there is none."""
    row = _LAST.first(session_id)
    return row.id if row else ""


_LAST = Prepared(
    lambda session_id: Message.objects.filter(session_id=session_id).order_by("-id").only("id")[:1]
)


def next_id(session_id: str) -> str:
    """A new id that sorts after every message of the session, also after those of an import."""
    return ascending("msg", after=last_id(session_id))

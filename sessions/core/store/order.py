"""The place of what is added to a conversation: messages are ordered by their ids."""

from __future__ import annotations

from sessions.core.ids import ascending
from sessions.core.models import Message


def last_id(session_id: str) -> str:
    """The id of the newest message; empty where there is none."""
    ids = Message.objects.filter(session_id=session_id).order_by("-id").values_list("id", flat=True)
    return ids.first() or ""


def next_id(session_id: str) -> str:
    """A new id that sorts after every message of the session, also after those of an import."""
    return ascending("msg", after=last_id(session_id))

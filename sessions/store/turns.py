"""Turns: a prompt with what answers it, as the review reads them."""

from __future__ import annotations

from django.db.models import Q

from sessions.models import FileChange, Message, Part, Session
from sessions.wire.messages import UserMessage

from .rows import Unreadable, message_info


def last_prompt(session_id: str) -> str:
    """The last user message that is not undone; empty when there is none."""
    revert = Session.objects.filter(id=session_id).values_list("revert", flat=True).first()
    rows = Message.objects.filter(session_id=session_id, role="user")
    if revert:
        rows = rows.filter(id__lt=revert["messageID"])
    return rows.order_by("-id").values_list("id", flat=True).first() or ""


def unanswered(session_id: str) -> UserMessage | None:
    """The last message, when it is a prompt that no answer was begun for; a child's prompt belongs to its
    parent's turn and does not count, nor does one that cannot be read."""
    row = Message.objects.filter(session_id=session_id, session__parent=None).order_by("-id").first()
    if row is None or row.role != "user" or _reverted(session_id):
        return None
    try:
        message = message_info(row)
    except Unreadable:
        return None
    return message if isinstance(message, UserMessage) else None


def _reverted(session_id: str) -> bool:
    return Session.objects.filter(id=session_id).exclude(revert=None).exists()


def changed_files(session_id: str, part_id: str) -> bool:
    """Whether a tool call changed files, itself or through a subagent."""
    own, below = Q(session_id=session_id, part_id=part_id), Q(for_session_id=session_id, for_part_id=part_id)
    return FileChange.objects.filter(own | below, operation=None).exists()


def from_prompt(session_id: str, message_id: str) -> tuple[int, str]:
    """How many prompts there are from one on, and its text."""
    count = Message.objects.filter(session_id=session_id, role="user", id__gte=message_id).count()
    parts = Part.objects.filter(message_id=message_id, session_id=session_id, type="text").order_by("id")
    texts = [part.data.get("text", "") for part in parts if not part.data.get("synthetic")]
    return count, "\n".join(texts)

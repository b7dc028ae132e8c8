"""The prompts of conversations, as somebody looks through them who wants to say one again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from django.db.models import Q, QuerySet

from sessions.core.models import Message

from . import inbox, messages, shells

_AT_ONCE = 20


def before(project_id: str, session_id: str, message_id: str) -> dict[str, Any] | None:
    """`{"info", "parts"}` of the prompt that came before a message: first those of the session, then those of
    the project's other conversations, the newest first. Without a message the last one; None after the first.

    Not what the agent says to a subagent, and nothing that no person wrote.
    """
    prompts = Message.objects.filter(role="user", session__project_id=project_id)
    own = prompts.filter(session_id=session_id).order_by("-id")
    others = prompts.filter(session__parent=None, session__time_deleted=None).exclude(session_id=session_id)
    others = others.order_by("-time_created", "-id")  # ids rise within a session only
    last = others.filter(id=message_id).first()
    if last is not None:
        same = Q(time_created=last.time_created, id__lt=last.id)
        return next(_written(others.filter(Q(time_created__lt=last.time_created) | same)), None)
    earlier = own.filter(id__lt=message_id) if message_id else own
    return next(chain(_written(earlier), _written(others)), None)


def _written(rows: QuerySet[Message]) -> Iterator[dict[str, Any]]:
    for session_id, message_id in rows.values_list("session_id", "id").iterator(chunk_size=_AT_ONCE):
        found = messages.message(session_id, message_id)
        if found and _is_written(found["parts"]):
            yield found


def _is_written(parts: Sequence[dict[str, Any]]) -> bool:
    return any(
        shells.command_of(part)
        or (part["type"] == "text" and inbox.is_written(part) and part["text"].strip())
        for part in parts
    )

"""What rows say about commands: which prompts wait to be expanded, and that one was carried out."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from agents.agent.commands.admission import MARK
from sessions.core.models import Message, Part, Session
from sessions.core.store import events, messages
from sessions.core.store.rows import message_wire, part_wire

Wire = dict[str, Any]
DONE = "arguments"
"""The key that the mark gets when the text is there."""


def is_command(message_id: str) -> bool:
    return bool(_marks(message_id=message_id).exists())


def is_unread(message_id: str) -> bool:
    """Whether it is a command whose text is not there yet."""
    return bool(_marks(message_id=message_id).exclude(data__metadata__has_key=DONE).exists())


def waiting(session_id: str) -> list[Wire]:
    """`{"info", "parts"}` of the commands after the last answer whose text is not there yet."""
    answers = Message.objects.filter(session_id=session_id, role="assistant").order_by("-id")
    after = answers.values_list("id", flat=True).first() or ""
    marks = _marks(session_id=session_id, message_id__gt=after).exclude(data__metadata__has_key=DONE)
    entries = (messages.message(session_id, mark.message_id) for mark in marks.order_by("message_id"))
    return [entry for entry in entries if entry]


def executed(session: Session, prompt_id: str) -> None:
    """Tell, as OpenCode does, that a command was carried out and which message answers it last."""
    mark = _marks(message_id=prompt_id).first()
    answer = (
        Message.objects.filter(session=session, role="assistant", id__gt=prompt_id).order_by("-id").first()
    )
    if mark is None or answer is None or message_wire(answer).get("error"):
        return
    metadata = part_wire(mark)["metadata"]
    properties = {
        "name": metadata[MARK],
        "sessionID": session.id,
        "arguments": metadata.get(DONE, ""),
        "messageID": answer.id,
    }
    with transaction.atomic():
        events.record("command.executed", properties, project=session.project_id, session=session.id)


def _marks(**where: Any) -> Any:
    return Part.objects.filter(type="text", data__metadata__has_key=MARK, **where)

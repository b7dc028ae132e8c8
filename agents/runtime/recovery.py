"""Settle what a turn left open, from rows alone: after a stop, an error of ours, or a crash (seed 002)."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction

from sessions.db import durable
from sessions.ids import now
from sessions.models import Message, Part
from sessions.store import children, messages, patches, permissions, questions
from sessions.store import sessions as session_store
from sessions.store.rows import message_info, part_info
from sessions.wire.base import NamedError
from sessions.wire.messages import AssistantMessage
from sessions.wire.parts import Failed, Pending, ReasoningPart, Running, Span, TextPart, ToolPart
from sessions.wire.session import Status


@dataclass(frozen=True, slots=True)
class Ending:
    """How a turn ended other than in order; `call` goes to the model, `error` to people."""

    name: str
    error: str
    call: str
    shown_as_failed: bool = True


STOPPED = Ending(
    "MessageAbortedError",
    "Stopped.",
    "The user stopped the turn before this call ended.",
    shown_as_failed=False,
)
CRASHED = Ending(
    "MessageAbortedError",
    "The server ended during this turn. What was done until then is kept.",
    "The server ended before this call did; what it had done by then is unknown.",
)
FAILED = Ending(
    "UnknownError",
    "An internal error ended this turn; the log has the details.",
    "An internal error ended the turn before this call did.",
)


def settle(session_id: str, ending: Ending) -> None:
    """Close every open part and message of the session; its requests can no longer be answered."""
    error = NamedError(name=ending.name, data={"message": ending.error})
    with durable(), transaction.atomic():
        permissions.cancel(session_id)
        questions.cancel(session_id)
        for row in Message.objects.filter(
            session_id=session_id, role="assistant", data__time__completed__isnull=True
        ):
            message = message_info(row)
            assert isinstance(message, AssistantMessage)
            _close_parts(message.id, ending)
            message.error = error
            message.time.completed = now()
            messages.put_message(message)
            patches.put_patch(message)
        failed = error.wire() if ending.shown_as_failed else None
        session_store.set_status(session_id, Status(type="idle"), error=failed)


def _close_parts(message_id: str, ending: Ending) -> None:
    for row in Part.objects.filter(message_id=message_id, type__in=("text", "reasoning", "tool")):
        part = part_info(row)
        if isinstance(part, ToolPart) and isinstance(part.state, Pending | Running):
            begun = part.state.time.start if isinstance(part.state, Running) else now()
            metadata = (part.state.metadata if isinstance(part.state, Running) else None) or {}
            child_id = children.cut_off(part.session_id, metadata)
            resumable = f" task_id {child_id} goes on with what the subagent had begun." if child_id else ""
            part.state = Failed(
                input=part.state.input,
                error=ending.call + resumable,
                metadata={**metadata, "interrupted": True},
                time=Span(start=begun, end=now()),
            )
        elif isinstance(part, TextPart | ReasoningPart) and part.time and part.time.end is None:
            part.time.end = now()
        else:
            continue
        messages.put_part(part)

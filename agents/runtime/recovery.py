"""Settle what a turn left open, from rows alone: after a stop, an error of ours, or a crash (seed 002)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from django.db import transaction

from agents.commands.rows import is_unread
from agents.permission.errors import PermissionRejected, QuestionRejected
from agents.runtime import shell
from sessions.ids import now
from sessions.models import Message, Part, Session
from sessions.store import children, messages, permissions, questions, resumption
from sessions.store import sessions as session_store
from sessions.store.rows import message_info, part_info
from sessions.wire.base import NamedError
from sessions.wire.messages import STOPPED_BY_USER, AssistantMessage
from sessions.wire.parts import Failed, Pending, ReasoningPart, Running, Span, TextPart, ToolPart
from sessions.wire.session import Status

Cause = Literal["stop", "crash", "error"]


@dataclass(frozen=True, slots=True)
class Ending:
    """How a turn ended other than in order. `error` goes to people, to the model `call` for a call that ran
    and `waiting` for one that had not begun; `cause` is in the metadata of both."""

    name: str
    error: str
    call: str
    waiting: str
    cause: Cause
    shown_as_failed: bool = False


STOPPED = Ending(
    "MessageAbortedError",
    STOPPED_BY_USER,
    "The user stopped the turn before this call ended.",
    "The user stopped the turn before this call began: it was not run.",
    "stop",
)
CRASHED = Ending(
    "MessageAbortedError",
    "The server ended during this turn. What was done until then is kept.",
    "The server ended before this call did; whether it ran, and what it had done by then, is unknown.",
    "The server ended before this call began: it was not run.",
    "crash",
)
FAILED = Ending(
    "UnknownError",
    "An internal error ended this turn; the log has the details.",
    "An internal error ended the turn before this call did; whether it ran, and what it had done by then, is "
    "unknown.",
    "An internal error ended the turn before this call began: it was not run.",
    "error",
    shown_as_failed=True,
)

_REJECTED = frozenset({str(PermissionRejected()), str(QuestionRejected())})
"""What a call ends with whose rejection ends the turn."""


def settle(session_id: str, ending: Ending) -> None:
    """Close every open part and message of the session; its requests can no longer be answered."""
    error = NamedError(name=ending.name, data={"message": ending.error})
    with transaction.atomic():
        permissions.cancel(session_id)
        questions.cancel(session_id)
        for row in _unfinished(session_id):
            message = message_info(row)
            assert isinstance(message, AssistantMessage)
            _close_parts(message.id, ending)
            message.error = error
            message.time.completed = message.time.completed or now()
            messages.put_message(message)
        _note(session_id, ending, error)
        failed = error.wire() if ending.shown_as_failed else None
        session_store.set_status(session_id, Status(type="idle"), error=failed)


def _unfinished(session_id: str) -> list[Message]:
    """The answers that are open, or else the last step of a turn that was to take another one."""
    answers = Message.objects.filter(session_id=session_id, role="assistant")
    if found := list(answers.filter(data__time__completed__isnull=True)):
        return found
    last = Message.objects.filter(session_id=session_id).order_by("-id").first()
    busy = Session.objects.filter(id=session_id).exclude(status={}).exclude(status__type="idle").exists()
    if last is None or not busy or last.data.get("finish") != "tool-calls" or last.data.get("error"):
        return []
    return [] if _is_rejected(last) else [last]


def _is_rejected(answer: Message) -> bool:
    """Whether the user rejected a call of it without words, which is for them to go on from."""
    return answer.parts.filter(type="tool", data__state__error__in=_REJECTED).exists()


def _note(session_id: str, ending: Ending, error: NamedError) -> None:
    """That the turn can go on, of a session that a person talks to. A prompt that nobody began to answer is
    answered when there is a server again; a shell command is all there is of its turn, and the text of a
    command that was not put together yet would have its calls run twice. What ended otherwise before stays as
    it is: a stop is not taken back by a crash after it."""
    last = Message.objects.filter(session_id=session_id, session__parent=None).order_by("-id").first()
    if last is None or (last.role == "user" and ending is not CRASHED):
        return
    if last.role == "user":
        resumption.note(last.id, "due")
    elif last.data.get("error") == error.wire() and _has_more(str(last.data["parentID"])):
        by_itself = ending is CRASHED and not _is_rejected(last)
        resumption.note(last.data["parentID"], "cut" if by_itself else "")


def _has_more(prompt_id: str) -> bool:
    """Whether there is a prompt from which the model can go on."""
    if not Message.objects.filter(id=prompt_id, role="user").exists():
        return False
    return shell.requested(prompt_id) is None and not is_unread(prompt_id)


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
                error=(ending.call if isinstance(part.state, Running) else ending.waiting) + resumable,
                metadata={**metadata, "interrupted": True, "cause": ending.cause},
                time=Span(start=begun, end=now()),
            )
        elif isinstance(part, TextPart | ReasoningPart) and part.time and part.time.end is None:
            part.time.end = now()
        else:
            continue
        messages.put_part(part)

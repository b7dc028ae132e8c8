"""Settle what a turn left open, from rows alone: after a stop, an error of ours, or a crash (seed 002)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from sessions import space
from sessions.db import durable, in_db
from sessions.fence import Lease
from sessions.ids import now
from sessions.models import Message, Part, Session
from sessions.store import children, events, inbox, leases, messages, patches, permissions, questions
from sessions.store import sessions as session_store
from sessions.store.rows import Unreadable, message_info, part_info
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


FULL = Ending(
    "UnknownError",
    f"{space.FULL} This turn ended; what was done until then is kept. Make room and go on.",
    "The disk was full before this call ended; what it had done by then is unknown.",
)


def ending_of(error: BaseException) -> Ending:
    """How a turn ends that an error broke off."""
    if space.is_full(error):
        return FULL
    if isinstance(error, Unreadable):
        return Ending("UnknownError", str(error), FAILED.call)
    return FAILED


@dataclass(frozen=True, slots=True)
class Close:
    """What is to be done when a drain ends: with `ending` a turn is settled, else it ended in order, with the
    `error` that it told or none. `unasked` are the prompts promoted last, where the model was not asked yet:
    a stop takes them back, and where the worker `resumes` the next one takes them up."""

    ending: Ending | None
    error: dict[str, Any] | None = None
    stopped: bool = False
    unasked: Sequence[str] = ()
    resumes: bool = False


def close(lease: Lease, how: Close) -> None:
    """Settle and give the lease back in one: who hears that the session is idle finds it free."""
    with durable(), transaction.atomic():
        row = Session.objects.select_for_update().get(id=lease.session_id)
        stopped = how.stopped or leases.is_stopped(row)
        running = row.status.get("type") == "busy" or _open(lease.session_id).exists()
        if how.ending is not None:
            settle(lease.session_id, how.ending)
            if how.ending is CRASHED:
                told = {"sessionID": row.id}
                events.record(events.SETTLED, told, project=row.project_id, session=row.id)
        elif row.status.get("type", "idle") != "idle":
            session_store.set_status(lease.session_id, Status(type="idle"), error=how.error)
        if stopped:
            inbox.take_back(row, how.unasked, waiting=not running)
        if how.resumes and how.unasked and not stopped:
            return  # whoever takes the lease over finds the prompt unanswered
        leases.release(lease)


async def alarm(session_id: str, error: BaseException) -> None:
    """Tell all clients and pages of what cannot be written down, as on a full disk."""
    told = NamedError(name="UnknownError", data={"message": ending_of(error).error})
    if space.is_full(error):
        told = NamedError(name="UnknownError", data={"message": space.FULL})
    properties = {"sessionID": session_id, "error": told.wire()}
    await in_db(events.tell, "session.error", properties, session_id)


def settle(session_id: str, ending: Ending) -> None:
    """Close every open part and message of the session; its requests can no longer be answered."""
    error = NamedError(name=ending.name, data={"message": ending.error})
    with durable(), transaction.atomic():
        permissions.cancel(session_id)
        questions.cancel(session_id)
        unreadable: list[Unreadable] = []
        for row in _open(session_id):
            unreadable += _close_parts(row.id, ending)
            try:
                message = message_info(row)
            except Unreadable as problem:
                unreadable.append(problem)
                messages.close_unreadable(row, str(problem))
                continue
            assert isinstance(message, AssistantMessage)
            message.error = error
            message.time.completed = now()
            messages.put_message(message)
            patches.put_patch(message)
        failed = error.wire() if ending.shown_as_failed else None
        if unreadable:
            words = " ".join(str(problem) for problem in unreadable)
            failed = NamedError(name="UnknownError", data={"message": words}).wire()
        session_store.set_status(session_id, Status(type="idle"), error=failed)


def _open(session_id: str) -> QuerySet[Message]:
    return Message.objects.filter(session_id=session_id, role="assistant", data__time__completed__isnull=True)


def _close_parts(message_id: str, ending: Ending) -> list[Unreadable]:
    """The parts that cannot be read stay as they are."""
    unreadable = []
    for row in Part.objects.filter(message_id=message_id, type__in=("text", "reasoning", "tool")):
        try:
            part = part_info(row)
        except Unreadable as problem:
            unreadable.append(problem)
            continue
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
    return unreadable

"""Settle what a turn left open, from rows alone: after a stop, an error of ours, or a crash."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, Literal

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation.trans_null import gettext_noop

from agents.agent.commands.rows import is_unread
from agents.toolkit.permission.errors import PermissionRejected, QuestionRejected
from sessions.core import space
from sessions.core.db import durable, in_db
from sessions.core.fence import Lease
from sessions.core.ids import now
from sessions.core.models import Message, Part, Session
from sessions.core.store import (
    children,
    events,
    inbox,
    leases,
    messages,
    permissions,
    questions,
    resumption,
    shells,
    turns,
    usage,
)
from sessions.core.store import sessions as session_store
from sessions.core.store.rows import Unreadable, message_info, part_info
from sessions.core.wire.base import NamedError
from sessions.core.wire.messages import ABORTED, SERVER_ENDED, STOPPED_BY_USER, AssistantMessage
from sessions.core.wire.parts import Failed, Pending, ReasoningPart, Running, Span, TextPart, ToolPart
from sessions.core.wire.session import Status

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


STOPPED = Ending(
    ABORTED,
    STOPPED_BY_USER,
    gettext_noop("The user stopped the turn before this call ended."),
    gettext_noop("The user stopped the turn before this call began: it was not run."),
    "stop",
)
CRASHED = Ending(
    ABORTED,
    SERVER_ENDED,
    gettext_noop(
        "The server ended before this call did; whether it ran, and what it had done by then, is unknown."
    ),
    gettext_noop("The server ended before this call began: it was not run."),
    "crash",
)
FAILED = Ending(
    "UnknownError",
    gettext_noop("An internal error ended this turn; the log has the details."),
    gettext_noop(
        "An internal error ended the turn before this call did; whether it ran, and "
        "what it had done by then, is unknown."
    ),
    gettext_noop("An internal error ended the turn before this call began: it was not run."),
    "error",
)

FULL = Ending(
    "UnknownError",
    gettext_noop(
        "The disk is full: nothing can be saved until there is room again. This turn ended; what was done "
        "until then is kept. Make room and go on."
    ),
    gettext_noop(
        "The disk was full before this call ended; whether it ran, and what it had done by then, is unknown."
    ),
    gettext_noop("The disk was full before this call began: it was not run."),
    "error",
)

AWAY = Ending(
    "UnknownError",
    gettext_noop(
        "The database did not answer for too long. This turn ended; what was saved until then is kept."
    ),
    gettext_noop(
        "The database did not answer when this call ended; whether it ran, and what it "
        "had done by then, is unknown."
    ),
    gettext_noop("The database did not answer before this call began: it was not run."),
    "error",
)

GONE = Ending(
    ABORTED,
    gettext_noop(
        "The machine went away. What was saved until then is kept, and its files are as they were there."
    ),
    gettext_noop(
        "The machine went away before this call ended; whether it ran, and what it had "
        "done by then, is unknown."
    ),
    gettext_noop("The machine went away before this call began: it was not run."),
    "crash",
)

_REJECTED = frozenset({str(PermissionRejected()), str(QuestionRejected())})
"""What a call ends with whose rejection ends the turn."""


def ending_of(error: BaseException) -> Ending:
    """How a turn ends that an error broke off."""
    if space.is_full(error):
        return FULL
    if space.is_away(error):
        return AWAY
    if isinstance(error, Unreadable):
        return replace(FAILED, error=str(error))
    return FAILED


@dataclass(frozen=True, slots=True)
class Close:
    """What is to be done when a drain ends: with `ending` a turn is settled, else it ended in order, with the
    `error` that it told or none. `stopped`: a person stopped it, which the row of the session says, too, as
    long as the lease is the same; then nothing else ended it, and the prompts promoted last are taken back
    where the model was not asked yet."""

    ending: Ending | None
    error: dict[str, Any] | None = None
    stopped: bool = False


def close(lease: Lease, how: Close) -> int:
    """Settle and give the lease back in one: who hears that the session is idle finds it free. The number
    that the next event will have which changes the session or what it has, where the turn ended in order."""
    with durable(), events.together():
        row = session_store.locked(lease.session_id)
        stopped = how.stopped or leases.is_stopped(row)
        running = row.status.get("type") == "busy" or _open(lease.session_id).exists()
        ending = STOPPED if stopped and how.ending in (CRASHED, GONE) else how.ending
        if stopped or ending is not None:
            inbox.withdraw_own(row)
        if stopped:  # first: what it takes back is not what the turn ended with
            inbox.take_back(row, turns.unasked(row.id), waiting=not running)
        if ending is not None:
            settle(lease.session_id, ending)
            if ending is CRASHED:
                told = {"sessionID": row.id}
                events.record(events.SETTLED, told, project=row.project_id, session=row.id)
        elif row.status.get("type", "idle") != "idle":
            session_store.put_status(row, Status(type="idle"), error=how.error)
            if how.error:
                _note_failed(lease.session_id)
        leases.release(lease)
        return events.following(lease.session_id)


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
        asked = permissions.cancel(session_id)
        questions.cancel(session_id)
        unreadable: list[Unreadable] = []
        cut_off: set[str] = set()
        for row in _unfinished(session_id):
            unreadable += _close_parts(row.id, ending, asked)
            try:
                message = message_info(row)
            except Unreadable as problem:
                unreadable.append(problem)
                messages.close_unreadable(row, str(problem))
                continue
            assert isinstance(message, AssistantMessage)
            message.error = error
            was_open = message.time.completed is None
            message.time.completed = message.time.completed or now()
            messages.put_message(message)
            if was_open:
                usage.put_patch(message)
            cut_off.add(message.id)
        _note(session_id, ending, cut_off)
        failed = error.wire() if cut_off or ending.name != ABORTED else None
        if unreadable:
            words = " ".join(str(problem) for problem in unreadable)
            failed = NamedError(name="UnknownError", data={"message": words}).wire()
        session_store.set_status(session_id, Status(type="idle"), error=failed)


def _open(session_id: str) -> QuerySet[Message]:
    return Message.objects.filter(session_id=session_id, role="assistant", data__time__completed__isnull=True)


def _unfinished(session_id: str) -> list[Message]:
    """The answers that are open, or else the last step of a turn that was to take another one."""
    if found := list(_open(session_id)):
        return found
    busy = Session.objects.filter(id=session_id).exclude(status={}).exclude(status__type="idle").exists()
    last = Message.objects.filter(session_id=session_id).order_by("-id").first() if busy else None
    if last is None or last.data.get("finish") != "tool-calls" or last.data.get("error"):
        return []
    return [] if _is_rejected(last) else [last]


def _is_rejected(answer: Message) -> bool:
    """Whether the user rejected a call of it without words, which is for them to go on from."""
    return answer.parts.filter(type="tool", data__state__error__in=_REJECTED).exists()


def _note(session_id: str, ending: Ending, cut_off: Collection[str]) -> None:
    """That the turn can go on whose last answer was `cut_off`, of a session that a person talks to. A prompt
    that nobody began to answer is answered when there is a server again; a shell command is all there is of
    its turn, and the text of a command that was not put together yet would have its calls run twice. What
    ended before stays as it is: a stop is not taken back by a crash after it."""
    last = Message.objects.filter(session_id=session_id, session__parent=None).order_by("-id").first()
    if last is None:
        return
    if last.role == "user" and ending is CRASHED and last.id in turns.unasked(session_id):
        resumption.begin_anew(last.id)
    elif last.id in cut_off and _has_more(str(last.data["parentID"])):
        by_itself = ending is CRASHED and not _is_rejected(last)
        resumption.note(last.data["parentID"], "cut" if by_itself else "")
    elif ending is CRASHED and not cut_off:
        resumption.cut_anew(session_id)


def _note_failed(session_id: str) -> None:
    """That the turn can be tried again whose last answer failed, of a session that a person talks to."""
    last = Message.objects.filter(session_id=session_id, session__parent=None).order_by("-id").first()
    if last is not None and last.data.get("error") and _has_more(str(last.data["parentID"])):
        resumption.note(last.data["parentID"], "")


def _has_more(prompt_id: str) -> bool:
    """Whether there is a prompt from which the model can go on."""
    if not Message.objects.filter(id=prompt_id, role="user").exists():
        return False
    return shells.requested(prompt_id) is None and not is_unread(prompt_id)


def _close_parts(message_id: str, ending: Ending, asked: Collection[str]) -> list[Unreadable]:
    """The parts that cannot be read stay as they are; the calls in `asked` waited for permission."""
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
            ran = isinstance(part.state, Running) and part.call_id not in asked
            resumable = f" task_id {child_id} goes on with what the subagent had begun." if child_id else ""
            part.state = Failed(
                input=part.state.input,
                error=(ending.call if ran else ending.waiting) + resumable,
                metadata={**metadata, "interrupted": True, "cause": ending.cause},
                time=Span(start=begun, end=now()),
            )
        elif isinstance(part, TextPart | ReasoningPart) and part.time and part.time.end is None:
            part.time.end = now()
        else:
            continue
        messages.put_part(part)
    return unreadable

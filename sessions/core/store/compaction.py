"""What the context window does to rows: outputs cleared, a compaction asked for and completed.

Each of these is one transaction.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext

from sessions.core.ids import now
from sessions.core.models import AdmittedPrompt, Message, Part, Session
from sessions.core.wire.messages import AssistantMessage
from sessions.core.wire.parts import PART, CompactionPart, Completed, StepFinishPart, ToolPart
from sessions.core.wire.parts import Part as WirePart

from . import context, events, inbox, messages, usage
from .inbox import GOES_ON
from .rows import part_info


class NothingToCompact(inbox.PromptRefused):
    """The session has no answer yet."""


def clear_outputs(parts: Sequence[dict[str, Any]]) -> None:
    """Mark tool parts as cleared: the model is no longer sent their output, which stays in the row."""
    cleared = []
    for wire in parts:
        part = PART.validate_python(wire)
        if isinstance(part, ToolPart) and isinstance(part.state, Completed):
            part.state.time.compacted = now()
            cleared.append(part)
    messages.put_parts(cleared)


def ask(session: Session, *, auto: bool = False, **choice: Any) -> AdmittedPrompt:
    """Admit a request for a compaction (see `inbox.admit` for the choices); one that waits already is enough.

    Raises NothingToCompact.
    """
    with transaction.atomic():
        Session.objects.select_for_update().filter(id=session.id).first()
        for row in inbox.waiting(session.id):
            if any(part["type"] == "compaction" for part in row.parts):
                return row
        if not Message.objects.filter(session=session, role="assistant", data__error__isnull=True).exists():
            raise NothingToCompact(gettext("There is nothing to compact yet."))
        return inbox.admit(session, [{"type": "compaction", "auto": auto}], **choice)


def request(session: Session, *, overflow: bool, instead_of: str, **choice: Any) -> AdmittedPrompt:
    """Admit the compaction of a running drain, at its next boundary. `overflow`: the provider refused the
    request; `instead_of` is the attempt that it answers, removed as it holds nothing, or empty."""
    with transaction.atomic():
        discard(session.id, instead_of)
        part = {"type": "compaction", "auto": True, "overflow": overflow}
        return inbox.admit(session, [part], delivery="steer", **choice)


def discard(session_id: str, attempt: str) -> None:
    """Remove the last message of a session, which holds nothing; an empty id is none."""
    if attempt:
        messages.remove_messages(session_id, attempt)


def requested(message_id: str) -> CompactionPart | None:
    """What a user message asks for, if that is a compaction."""
    row = Part.objects.filter(message_id=message_id, type="compaction").first()
    part = part_info(row) if row else None
    return part if isinstance(part, CompactionPart) else None


def is_part_of_one(message_id: str) -> bool:
    """Whether a user message asks for a compaction, or is what the session goes on with after one."""
    parts = Part.objects.filter(message_id=message_id)
    asks, goes_on = Q(type="compaction"), Q(type="text", data__metadata__has_key=GOES_ON)
    return bool(parts.filter(asks | goes_on).exists())


def is_compacted(session_id: str) -> bool:
    """Whether the last compaction that was asked for is complete."""
    row = (
        Message.objects.filter(session_id=session_id, role="assistant", data__summary=True)
        .order_by("id")
        .last()
    )
    return row is not None and not row.data.get("error") and bool(row.data.get("finish"))


def left_out(session_id: str, message_ids: Collection[str]) -> set[str]:
    """Of these messages those that the last compaction summed up: its model is no longer sent them."""
    if not message_ids:
        return set()
    summaries = Message.objects.filter(
        session_id=session_id, role="assistant", data__summary=True, data__error__isnull=True
    )
    last = summaries.filter(data__finish__isnull=False).order_by("-id").first()
    asked = requested(last.data["parentID"]) if last else None
    if last is None or asked is None:
        return set()
    start, prompt = asked.tail_start_id or last.id, (asked.metadata or {}).get("prompt")
    return {one for one in message_ids if one < start and one != prompt}


def finish(
    message: AssistantMessage,
    step: StepFinishPart,
    *,
    asked: CompactionPart,
    filling: dict[str, Any],
    follow_up: dict[str, Any] | None,
    said: Sequence[WirePart] = (),
) -> None:
    """Complete a compaction: the summary is in force, a new epoch is due, and `follow_up` (choices of
    `inbox.admit` with `parts`) is what the session goes on with."""
    with transaction.atomic():
        usage.step_finished(message, step, filling, said=said)
        messages.put_part(asked)
        context.end(message.session_id)
        session = Session.objects.get(id=message.session_id)
        events.record(
            "session.compacted",
            {"sessionID": session.id},
            project=session.project_id,
            session=session.id,
        )
        if follow_up is not None:
            inbox.admit(session, delivery="steer", **follow_up)

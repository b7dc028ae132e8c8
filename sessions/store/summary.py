"""What a turn and a session changed, kept with the user message and the session (seed 004 §17)."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from sessions.models import Message
from sessions.review.filediffs import file_diffs, totals
from sessions.review.scope import net
from sessions.snapshots.objects import ObjectStore
from sessions.wire.base import FileDiff
from sessions.wire.messages import UserMessage, UserSummary

from . import events, ledger, messages
from . import sessions as session_store
from .rows import message_info


def refresh(session_id: str, user_message_id: str, objects: ObjectStore) -> None:
    """Bring both up to date from the ledger after steps of a turn; writes nothing when nothing is new."""
    if not ledger.by_tools(session_id, since=user_message_id).exists():
        return
    turn = ledger.by_tools(session_id, since=user_message_id, before=next_prompt(session_id, user_message_id))
    diffs = file_diffs(net(turn), objects)
    row = Message.objects.filter(session_id=session_id, id=user_message_id).first()
    message = message_info(row) if row else None
    if not isinstance(message, UserMessage) or (message.summary and message.summary.diffs == diffs):
        return
    message.summary = (message.summary or UserSummary()).model_copy(update={"diffs": diffs})
    whole = file_diffs(net(ledger.by_tools(session_id)), objects)
    with transaction.atomic():
        messages.put_message(message)
        write(session_id, whole)


def next_prompt(session_id: str, message_id: str) -> str:
    """The first user message after a message; empty when there is none."""
    later = Message.objects.filter(session_id=session_id, role="user", id__gt=message_id)
    return later.order_by("id").values_list("id", flat=True).first() or ""


def write(session_id: str, diffs: list[FileDiff], **columns: Any) -> None:
    """Set the counts of the session, and other columns with them, and tell what it has changed in all."""
    row = session_store.update(session_id, summary=totals(diffs), **columns)
    if row is not None:
        properties = {"sessionID": session_id, "diff": [diff.wire() for diff in diffs]}
        events.record("session.diff", properties, project=row.project_id, session=session_id)

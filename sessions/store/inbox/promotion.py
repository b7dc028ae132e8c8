"""Prompt Promotion: from the inbox into Session History."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import transaction

from sessions.ids import ascending, now
from sessions.models import AdmittedPrompt, Message
from sessions.store import messages
from sessions.store.order import last_id
from sessions.wire.messages import MessageTime, UserMessage

from .admission import wire_parts
from .waiting import locked, record

Parts = list[dict[str, Any]]


def promote(
    prompt_id: str,
    *,
    agent: str,
    provider_id: str,
    model_id: str,
    variant: str = "",
    completed: Callable[[Parts], Parts] = list,
) -> UserMessage | None:
    """Turn an Admitted Prompt into a user message with its parts, in one transaction.

    The agent and model given are those of prompts that name none; `completed` gives what the message has of
    the prompt's parts. None when it no longer waits.
    """
    with transaction.atomic():
        row = locked().filter(id=prompt_id).first()
        if row is None:
            return None
        message = _user_message(row, agent, provider_id, model_id, variant)
        messages.put_message(message)
        if message.id != row.id:
            Message.objects.filter(id=message.id).update(prompt_id=row.id)
        messages.put_parts(wire_parts(completed(row.parts), row.session_id, message.id))
        record(row.session, row.id, row.delivery, promoted=message.id)
        row.delete()
    return message


def _user_message(
    row: AdmittedPrompt, agent: str, provider_id: str, model_id: str, variant: str
) -> UserMessage:
    """Its id must sort after everything in the history, also when it waited while others were written, and
    before everything that follows, also when the client's clock is ahead."""
    last = last_id(row.session_id)
    newest = ascending("msg", after=last)
    return UserMessage.model_validate(
        {
            "id": row.id if last < row.id <= newest else newest,
            "sessionID": row.session_id,
            "time": MessageTime(created=now()),
            "agent": row.agent or agent,
            "model": {
                "providerID": row.provider_id or provider_id,
                "modelID": row.model_id or model_id,
                "variant": row.variant or variant or None,
            },
            "system": row.system or None,
            "tools": row.tools or None,
            "format": row.format,
        }
    )

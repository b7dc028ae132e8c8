"""The inbox: admit a prompt, list what waits, promote it atomically (seed 002)."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from sessions.ids import ascending, now
from sessions.models import AdmittedPrompt, Message, Session
from sessions.wire.messages import MessageTime, UserMessage
from sessions.wire.parts import PART

from . import events, messages


class PromptRefused(ValueError):
    """The prompt cannot be admitted; the text is for the person who sent it."""


def admit(
    session: Session,
    parts: list[dict[str, Any]],
    *,
    message_id: str = "",
    agent: str = "",
    provider_id: str = "",
    model_id: str = "",
    variant: str = "",
    system: str = "",
    tools: dict[str, bool] | None = None,
    delivery: str = "queue",
) -> AdmittedPrompt:
    """Make a prompt durable. The same message id twice is the same prompt (a client may retry).

    Raises PromptRefused for a prompt without content, and for an id that something else has.
    """
    if not any(part.get("text", "").strip() or part["type"] != "text" for part in parts):
        raise PromptRefused("The prompt is empty.")
    with transaction.atomic():
        known = AdmittedPrompt.objects.filter(id=message_id).first() if message_id else None
        if known is not None and known.session_id == session.id:
            return known
        if known is not None or (message_id and Message.objects.filter(id=message_id).exists()):
            raise PromptRefused(f"The message id {message_id} is in use.")
        row = AdmittedPrompt.objects.create(
            id=message_id or ascending("msg"),
            session=session,
            position=now(),
            delivery=delivery,
            agent=agent,
            provider_id=provider_id,
            model_id=model_id,
            variant=variant,
            system=system,
            tools=tools or {},
            parts=parts,
            time_created=now(),
        )
        _record(session, row.id)
    return row


def waiting(session_id: str) -> list[AdmittedPrompt]:
    return list(AdmittedPrompt.objects.filter(session_id=session_id))


def steering(session_id: str) -> list[AdmittedPrompt]:
    """The prompts that promote at the next safe boundary of a running drain, in order."""
    return list(AdmittedPrompt.objects.filter(session_id=session_id, delivery="steer"))


def next_when_idle(session_id: str) -> list[AdmittedPrompt]:
    """What promotes when nothing is going on: every steering prompt, or else one queued prompt."""
    return steering(session_id) or waiting(session_id)[:1]


def sessions_waiting() -> list[str]:
    """Ids of sessions with prompts that nobody promoted yet, for the start of a worker."""
    rows = AdmittedPrompt.objects.filter(session__time_deleted=None, session__lease_owner="")
    return list(rows.values_list("session_id", flat=True).distinct())


def withdraw(session_id: str, prompt_id: str) -> bool:
    with transaction.atomic():
        row = AdmittedPrompt.objects.filter(session_id=session_id, id=prompt_id).first()
        if row is None:
            return False
        row.delete()
        _record(row.session, prompt_id)
    return True


def promote(
    prompt_id: str, *, agent: str, provider_id: str, model_id: str, variant: str = ""
) -> UserMessage | None:
    """Turn an Admitted Prompt into a user message with its parts, in one transaction.

    The agent and model given are those of prompts that name none. None when it no longer waits.
    """
    with transaction.atomic():
        row = AdmittedPrompt.objects.select_related("session").filter(id=prompt_id).first()
        if row is None:
            return None
        session_id = row.session_id
        message = _user_message(row, agent, provider_id, model_id, variant)
        messages.put_message(message)
        messages.put_parts(
            PART.validate_python(
                part | {"id": ascending("prt"), "sessionID": session_id, "messageID": message.id}
            )
            for part in row.parts
        )
        _record(row.session, row.id, promoted=message.id)
        row.delete()
    return message


def _user_message(
    row: AdmittedPrompt, agent: str, provider_id: str, model_id: str, variant: str
) -> UserMessage:
    """Its id must sort after everything in the history, also when it waited while others were written."""
    last = (
        Message.objects.filter(session_id=row.session_id).order_by("-id").values_list("id", flat=True).first()
    )
    return UserMessage.model_validate(
        {
            "id": row.id if not last or row.id > last else ascending("msg"),
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
        }
    )


def _record(session: Session, prompt_id: str, **more: str) -> None:
    properties = {"sessionID": session.id, "messageID": prompt_id, **more}
    events.record("session.inbox", properties, project=session.project_id, session=session.id)

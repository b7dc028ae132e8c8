"""A prompt becomes an Admitted Prompt: durable, and complete enough to become a message."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from pydantic import ValidationError

from sessions.db import durable
from sessions.ids import ascending, now
from sessions.models import AdmittedPrompt, Message, Part, Session
from sessions.wire.parts import PART
from sessions.wire.parts import Part as WirePart

from .waiting import Delivery, record


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
    format: dict[str, Any] | None = None,
    delivery: Delivery = "queue",
    no_reply: bool = False,
    resume: bool = True,
) -> AdmittedPrompt:
    """Make a prompt durable. The same message id twice is the same prompt (a client may retry). With
    `no_reply` it is a message in the history that nobody answers.

    Raises PromptRefused for a prompt without content or with a part that no message can have, and for an
    id that something else has.
    """
    check(parts)
    with durable(), transaction.atomic():
        Session.objects.select_for_update().filter(id=session.id).first()  # one position after another
        known = AdmittedPrompt.objects.filter(id=message_id).first() if message_id else None
        if known is not None and known.session_id == session.id:
            return known
        if known is not None or (message_id and Message.objects.filter(id=message_id).exists()):
            raise PromptRefused(f"The message id {message_id} is in use.")
        row = AdmittedPrompt.objects.create(
            id=message_id or ascending("msg"),
            session=session,
            position=_last_position(session.id),
            delivery=delivery,
            agent=agent,
            provider_id=provider_id,
            model_id=model_id,
            variant=variant,
            system=system,
            tools=tools or {},
            format=format,
            parts=parts,
            no_reply=no_reply,
            resume=resume,
            time_created=now(),
        )
        record(session, row.id, delivery)
    return row


def check(parts: list[dict[str, Any]]) -> None:
    """Raises PromptRefused for what could not be promoted: no content, or a part that lacks something."""
    if not any(part.get("text", "").strip() or part["type"] != "text" for part in parts):
        raise PromptRefused("The prompt is empty.")
    try:
        wire_parts(parts, "", "")
    except ValidationError as error:
        wrong = error.errors()[0]
        where = ".".join(str(step) for step in wrong["loc"])
        raise PromptRefused(f"{where}: {wrong['msg']}") from error


def wire_parts(parts: list[dict[str, Any]], session_id: str, message_id: str) -> list[WirePart]:
    """The parts of a prompt as those of a message, with ids in their order: those that the client gave if it
    gave all, in order, and nothing has them. Raises ValidationError."""
    where = {"sessionID": session_id, "messageID": message_id}
    given = [str(part.get("id") or "") for part in parts]
    usable = all(given) and given == sorted(set(given)) and not Part.objects.filter(id__in=given).exists()
    ids = given if usable else [ascending("prt") for _ in parts]
    return [PART.validate_python({**part, **where, "id": id}) for part, id in zip(parts, ids, strict=True)]


def _last_position(session_id: str) -> int:
    """After every other of the session, also when two prompts come in one millisecond."""
    last = AdmittedPrompt.objects.filter(session_id=session_id).order_by("position").last()
    return max(now(), last.position + 1 if last else 0)

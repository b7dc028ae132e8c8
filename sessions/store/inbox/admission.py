"""A prompt becomes an Admitted Prompt: durable, and complete enough to become a message."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from django.db import transaction
from pydantic import ValidationError

from sessions.db import durable
from sessions.ids import ascending, now
from sessions.models import Admission, AdmittedPrompt, Message, Part, Session
from sessions.wire.parts import PART
from sessions.wire.parts import Part as WirePart

from .waiting import Delivery, record

_CONTENT = "agent provider_id model_id variant system tools format parts no_reply".split()


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
    """Make a prompt durable. The same message id with the same content is the same prompt, for ever: a client
    may send it again, also when it was answered long ago, and gets what it got first. With `no_reply` it is a
    message in the history that nobody answers.

    Raises PromptRefused for a prompt without content or with a part that no message can have, and for an
    id that something else has.
    """
    check(parts)
    row = AdmittedPrompt(
        id=message_id or ascending("msg"),
        session=session,
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
    with durable(), transaction.atomic():
        Session.objects.select_for_update().filter(id=session.id).first()  # one position after another
        if message_id and _is_known(row):
            return row
        row.position = _last_position(session.id)
        row.save(force_insert=True)
        Admission.objects.create(
            id=row.id, session=session, digest=digest(row), time_created=row.time_created
        )
        record(session, row.id, delivery)
    return row


def digest(row: AdmittedPrompt) -> str:
    """Of what a prompt says and to whom, not of when it is to be promoted."""
    content = [getattr(row, name) for name in _CONTENT]
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _is_known(row: AdmittedPrompt) -> bool:
    """Whether this very prompt was admitted before. Raises PromptRefused."""
    known = Admission.objects.filter(id=row.id).first()
    if known is None:
        if Message.objects.filter(id=row.id).exists():
            raise PromptRefused(f"The message id {row.id} is in use.")
        return False
    if known.session_id != row.session_id:
        raise PromptRefused(f"The message id {row.id} is in use in another session.")
    if known.digest != digest(row):
        raise PromptRefused(f"The message id {row.id} is that of a prompt with another content.")
    return True


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

"""`/session/{id}/message` and `/session/{id}/prompt_async`: history and prompts."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from ninja import Router
from ninja.errors import HttpError
from pydantic import Field

from sessions import actions, bus
from sessions.api.base import NotFound, session_of, wire
from sessions.db import in_db
from sessions.models import Session
from sessions.store import messages
from sessions.store.inbox import PromptRefused
from sessions.wire.base import ModelRef, Wire
from sessions.wire.messages import PromptPart

router = Router()


class Prompt(Wire):
    message_id: str = Field(default="", alias="messageID", pattern="^(msg|$)")
    model: ModelRef | None = None
    agent: str = ""
    variant: str = ""
    system: str = ""
    tools: dict[str, bool] = Field(default_factory=dict)
    parts: list[PromptPart]


@router.get("/{session_id}/message")
async def list_messages(
    request: HttpRequest, session_id: str, limit: int | None = None, before: str = ""
) -> HttpResponse:
    """`[{info, parts}]`, oldest first; the last `limit` before a message."""
    await session_of(session_id)
    if limit is not None and limit < 0:
        raise HttpError(400, "limit: must not be negative")
    return wire(await in_db(messages.history, session_id, limit=limit, before=before))


@router.get("/{session_id}/message/{message_id}")
async def get_message(request: HttpRequest, session_id: str, message_id: str) -> HttpResponse:
    await session_of(session_id)
    found = await in_db(messages.message, session_id, message_id)
    if found is None:
        raise NotFound(f"Message not found: {message_id}")
    return wire(found)


@router.post("/{session_id}/prompt_async")
async def prompt_async(request: HttpRequest, session_id: str, body: Prompt) -> HttpResponse:
    await _admit(await session_of(session_id), body)
    return HttpResponse(status=204)


@router.post("/{session_id}/message")
async def prompt(request: HttpRequest, session_id: str, body: Prompt) -> StreamingHttpResponse:
    """The same, answered with the last assistant message once the session is idle again."""
    session = await session_of(session_id)
    mailbox = bus.subscribe(session=session_id)
    await mailbox.__aenter__()
    try:
        prompt_id = await _admit(session, body)
    except BaseException:
        await mailbox.__aexit__()
        raise
    return StreamingHttpResponse(_answer(mailbox, session_id, prompt_id), content_type="application/json")


async def _admit(session: Session, body: Prompt) -> str:
    parts = [part.fields() for part in body.parts]
    try:
        row = await actions.prompt(
            session,
            parts,
            message_id=body.message_id,
            agent=body.agent,
            provider_id=body.model.provider_id if body.model else "",
            model_id=body.model.model_id if body.model else "",
            variant=body.variant,
            system=body.system,
            tools=body.tools,
        )
    except PromptRefused as error:
        raise HttpError(400, f"parts: {error}") from error
    return row.id


async def _answer(mailbox: bus.Subscription, session_id: str, prompt_id: str) -> AsyncIterator[bytes]:
    """Spaces keep proxies from closing the connection meanwhile; JSON allows them in front."""
    promoted = False
    try:
        while not mailbox.overflowed:
            events = await mailbox.take(10)
            if not events:
                yield b" "
            for event in events:
                if event.type == "session.inbox" and event.properties.get("messageID") == prompt_id:
                    promoted = promoted or "promoted" in event.properties
                elif event.type == "session.idle" and promoted:
                    yield await _last_assistant(session_id)
                    return
        yield await _last_assistant(session_id)
    finally:
        await mailbox.__aexit__()


async def _last_assistant(session_id: str) -> bytes:
    rows: list[dict[str, Any]] = await in_db(messages.history, session_id, limit=20)
    answers = [row for row in rows if row["info"]["role"] == "assistant"]
    return json.dumps(answers[-1] if answers else rows[-1]).encode()

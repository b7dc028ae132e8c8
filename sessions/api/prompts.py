"""`/session/{id}/message` and `/session/{id}/prompt_async`: history and prompts; `fork`, `summarize`."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from ninja import Router
from ninja.errors import HttpError
from pydantic import Field

from sessions import actions, bus
from sessions.api.base import NotFound, session_of, wire
from sessions.db import in_db
from sessions.models import Session
from sessions.store import compaction, forks, messages
from sessions.store.inbox import Delivery, PromptRefused
from sessions.store.rows import session_wire
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
    delivery: Delivery = "queue"
    """Ours: whether it joins the turn that runs, at its next step."""
    parts: list[PromptPart]


class Summarize(Wire):
    provider_id: str = Field(alias="providerID")
    model_id: str = Field(alias="modelID")
    auto: bool = False
    """Whether the session goes on with its next steps by itself."""


class ForkAt(Wire):
    message_id: str = Field(default="", alias="messageID", pattern="^(msg|$)")


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
    return await answered(session_id, lambda: _admit(session, body))


async def answered(
    session_id: str,
    admit: Callable[[], Awaitable[str]],
    result: Callable[[str], Awaitable[bytes]] | None = None,
) -> StreamingHttpResponse:
    """Admit a prompt and wait for its turn; `admit` gives its id, `result` the answer of a session, by
    default its last assistant message. Raises what `admit` raises."""
    mailbox = bus.subscribe(session=session_id)
    await mailbox.__aenter__()
    try:
        prompt_id = await admit()
    except BaseException:
        await mailbox.__aexit__()
        raise
    answer = _answer(mailbox, session_id, prompt_id, result or _last_assistant)
    return StreamingHttpResponse(answer, content_type="application/json")


@router.post("/{session_id}/summarize")
async def summarize(request: HttpRequest, session_id: str, body: Summarize) -> StreamingHttpResponse:
    """Sum up the conversation; `true` once the session is idle again, `false` if there is no summary."""
    session = await session_of(session_id)
    return await answered(session_id, lambda: _ask_compaction(session, body), _is_compacted)


async def _ask_compaction(session: Session, body: Summarize) -> str:
    model = {"provider_id": body.provider_id, "model_id": body.model_id}
    try:
        return (await actions.compact(session, auto=body.auto, **model)).id
    except PromptRefused as error:
        raise HttpError(400, str(error)) from error


async def _is_compacted(session_id: str) -> bytes:
    return json.dumps(await in_db(compaction.is_compacted, session_id)).encode()


@router.post("/{session_id}/fork")
async def fork(request: HttpRequest, session_id: str, body: ForkAt | None = None) -> HttpResponse:
    """A new session with a copy of the conversation, up to a message (not included) or whole."""
    session = await session_of(session_id)
    before = body.message_id if body else ""
    if before and await in_db(messages.message, session_id, before) is None:
        raise NotFound(f"Message not found: {before}")
    return wire(session_wire(await in_db(forks.fork, session, before)))


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
            delivery=body.delivery,
        )
    except PromptRefused as error:
        raise HttpError(400, f"parts: {error}") from error
    return row.id


async def _answer(
    mailbox: bus.Subscription, session_id: str, prompt_id: str, result: Callable[[str], Awaitable[bytes]]
) -> AsyncIterator[bytes]:
    """Spaces keep proxies from closing the connection meanwhile; JSON allows them in front. A prompt that is
    withdrawn is answered with what there is."""
    promoted = withdrawn = False
    try:
        while not mailbox.overflowed:
            events = await mailbox.take(10)
            if not events:
                yield b" "
            for event in events:
                if event.type == "session.inbox" and event.properties.get("messageID") == prompt_id:
                    promoted = promoted or "promoted" in event.properties
                    withdrawn = withdrawn or "withdrawn" in event.properties
                if withdrawn or (event.type == "session.idle" and promoted):
                    yield await result(session_id)
                    return
        yield await result(session_id)
    finally:
        await mailbox.__aexit__()


async def _last_assistant(session_id: str) -> bytes:
    rows: list[dict[str, Any]] = await in_db(messages.history, session_id, limit=20)
    answers = [row for row in rows if row["info"]["role"] == "assistant"]
    last = next(reversed(answers or rows), None)
    return json.dumps(last).encode()

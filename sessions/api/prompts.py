"""`/session/{id}/message` and `/session/{id}/prompt_async`: history and prompts; `summarize`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Annotated, Any

from django.db.models import Q
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from ninja import Query, Router
from ninja.errors import HttpError
from pydantic import Field

from sessions.api.base import known_in, session_of
from sessions.api.described import answers
from sessions.api.messages import message_at, paged
from sessions.api.v2.projection import admitted
from sessions.changes import actions
from sessions.core import bus
from sessions.core.db import in_db
from sessions.core.models import AdmittedPrompt, Message, Session
from sessions.core.store import compaction, inbox, messages
from sessions.core.store.inbox import Delivery, PromptRefused
from sessions.core.wire import formats
from sessions.core.wire.base import LARGEST, ModelRef, Wire
from sessions.core.wire.formats import OutputFormat, OutputFormatJsonSchema
from sessions.core.wire.messages import MessageWithParts, PromptPart

router = Router()

Result = Callable[[str, str], Awaitable[bytes]]
"""The answer of a session to a prompt, by the ids of session and message."""


class NewPrompt(Wire):
    """With `noReply` it becomes a message and nobody answers. `delivery` is ours: whether it joins the turn
    that runs, at its next step, or waits for its end."""

    message_id: str = Field(default="", alias="messageID", pattern="^(msg|$)")
    model: ModelRef | None = None
    agent: str = ""
    variant: str = ""
    system: str = ""
    tools: dict[str, bool] = Field(default_factory=dict)
    no_reply: bool = Field(default=False, alias="noReply")
    format: OutputFormat | None = None
    delivery: Delivery | None = None
    parts: list[PromptPart]

    def choices(self) -> dict[str, Any]:
        """As `inbox.admit` takes them."""
        return {
            "message_id": self.message_id,
            "agent": self.agent,
            "provider_id": self.model.provider_id if self.model else "",
            "model_id": self.model.model_id if self.model else "",
            "variant": self.variant,
            "system": self.system,
            "tools": self.tools,
            "format": self.format.wire() if self.format else None,
            "no_reply": self.no_reply,
            "delivery": self.delivery or ("steer" if self.no_reply else "queue"),
        }


class Summarize(Wire):
    provider_id: str = Field(alias="providerID")
    model_id: str = Field(alias="modelID")
    auto: bool = False
    """Whether the session goes on with its next steps by itself."""


@router.get("/{session_id}/message", operation_id="session.messages")
@answers(list[MessageWithParts], errors=(404,))
async def list_messages(
    request: HttpRequest,
    session_id: str,
    limit: Annotated[int | None, Query(ge=0, le=LARGEST)] = None,
    before: str = "",
) -> HttpResponse:
    """`[{info, parts}]`, oldest first; with `limit` the last ones, and a cursor for those before them in
    `X-Next-Cursor` and `Link`, to be given as `before`."""
    if before and not limit:
        raise HttpError(400, "before: it takes a limit")
    return paged(request, await in_db(_page, session_id, limit, before and message_at(before)))


def _page(session_id: str, limit: int | None, before: str) -> messages.Page:
    known_in(session_id)
    return messages.page(session_id, limit, before)


@router.post("/{session_id}/prompt_async", operation_id="session.prompt_async")
@answers(status=204, errors=(404,))
async def prompt_async(request: HttpRequest, session_id: str, body: NewPrompt) -> HttpResponse:
    await _admit(await session_of(session_id), body)
    return HttpResponse(status=204)


@router.post("/{session_id}/message", operation_id="session.prompt")
@answers(MessageWithParts, errors=(404,))
async def prompt(request: HttpRequest, session_id: str, body: NewPrompt) -> StreamingHttpResponse:
    """The same, answered with the last assistant message once the session is idle again; with `noReply` with
    the message that was made of the prompt."""
    session = await session_of(session_id)
    if body.no_reply:
        return await answered(session_id, lambda: _admit(session, body), _itself, idle=False)
    return await answered(session_id, lambda: _admit(session, body))


async def answered(
    session_id: str,
    admit: Callable[[], Awaitable[str]],
    result: Result | None = None,
    *,
    idle: bool = True,
) -> StreamingHttpResponse:
    """Admit a prompt and wait for its turn (with `idle` false: until it is a message); `admit` gives its id,
    `result` the answer, by default the last assistant message. Raises what `admit` raises."""
    mailbox = bus.subscribe(session=session_id)
    await mailbox.__aenter__()
    try:
        prompt_id = await admit()
    except BaseException:
        await mailbox.__aexit__()
        raise
    answer = _answer(mailbox, session_id, prompt_id, result or _last_assistant, idle)
    return StreamingHttpResponse(answer, content_type="application/json")


@router.post("/{session_id}/summarize", operation_id="session.summarize")
@answers(bool, errors=(404,))
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


async def _is_compacted(session_id: str, _: str) -> bytes:
    return json.dumps(await in_db(compaction.is_compacted, session_id)).encode()


async def _admit(session: Session, body: NewPrompt) -> str:
    await _checked(body.format)
    try:
        row = await actions.prompt(session, [part.fields() for part in body.parts], **body.choices())
    except PromptRefused as error:
        raise HttpError(400, f"parts: {error}") from error
    return row.id


async def _checked(format: OutputFormat | None) -> None:
    if isinstance(format, OutputFormatJsonSchema):
        try:
            await asyncio.to_thread(formats.check, format.json_schema)
        except formats.BadSchema as error:
            raise HttpError(400, f"format: schema: {error}") from error


async def _answer(
    mailbox: bus.Subscription, session_id: str, prompt_id: str, result: Result, idle: bool
) -> AsyncIterator[bytes]:
    """Spaces send the headers at once and keep proxies from closing the connection meanwhile; JSON allows
    them in front. A prompt that is withdrawn, or waits when the session is deleted, is answered with what
    there is. Where events are missing, the rows say what came of it."""
    message_id = await in_db(_begun, session_id, prompt_id)
    over = False
    try:
        if message_id and (not idle or await in_db(admitted.is_idle, session_id)):
            yield await (_answer_to if result is _last_assistant else result)(session_id, message_id)
            return  # it was sent before, and this is what came of it
        if not idle and (soon := await in_db(_soon, session_id, prompt_id)):
            yield soon
            return
        yield b" "
        while not over:
            events = await mailbox.take(10)
            for event in events:
                if event.type == "session.inbox" and event.properties.get("messageID") == prompt_id:
                    message_id = message_id or str(event.properties.get("promoted", ""))
                    over = over or "withdrawn" in event.properties
                over = over or (event.type == "session.deleted" and not message_id)
                over = over or bool(message_id and (event.type == "session.idle" or not idle))
            if not events:
                mailbox.overflowed = False
                message_id = message_id or await in_db(_begun, session_id, prompt_id)
                over = await in_db(_is_over, session_id, prompt_id, message_id, idle)
                yield b" "
        yield await result(session_id, message_id)
    finally:
        await mailbox.__aexit__()


def _soon(session_id: str, prompt_id: str) -> bytes:
    """What a prompt becomes with the next step of the turn that runs: that may wait for who sent this. Empty
    where none runs."""
    message = inbox.as_message(session_id, prompt_id)
    return json.dumps(message).encode() if message else b""


def _is_over(session_id: str, prompt_id: str, message_id: str, idle: bool) -> bool:
    """Whether nothing more comes of a prompt."""
    if message_id:
        return not idle or admitted.is_idle(session_id)
    waits = AdmittedPrompt.objects.filter(id=prompt_id, session__time_deleted=None)
    return not waits.exists()


def _begun(session_id: str, prompt_id: str) -> str:
    """The id of the message that was made of a prompt; empty while it waits, and when it is gone."""
    rows = Message.objects.filter(Q(id=prompt_id) | Q(prompt_id=prompt_id), session_id=session_id)
    return rows.values_list("id", flat=True).first() or ""


async def _answer_to(session_id: str, message_id: str) -> bytes:
    """The last assistant message that answers this one; where another prompt was promoted with it, the last
    that there is."""
    row = await in_db(_own_answer, session_id, message_id)
    return json.dumps(row).encode() if row else await _last_assistant(session_id, message_id)


def _own_answer(session_id: str, message_id: str) -> dict[str, Any] | None:
    rows = Message.objects.filter(session_id=session_id, role="assistant", data__parentID=message_id)
    last = rows.order_by("-id").values_list("id", flat=True).first()
    return messages.message(session_id, last) if last else None


async def _last_assistant(session_id: str, _: str) -> bytes:
    rows: list[dict[str, Any]] = await in_db(messages.history, session_id, limit=20)
    said = [row for row in rows if row["info"]["role"] == "assistant"]
    last = next(reversed(said or rows), None)
    return json.dumps(last).encode()


async def _itself(session_id: str, message_id: str) -> bytes:
    return json.dumps(await in_db(messages.message, session_id, message_id)).encode()

"""`/api/session/{id}/prompt`, `wait`, `interrupt`, `compact`: what makes a session work, or stop."""

from __future__ import annotations

from typing import Annotated

from django.http import HttpRequest, HttpResponse
from ninja import Router
from pydantic import Field

from sessions.api.base import wire
from sessions.api.described import answers
from sessions.api.v2.base import InvalidRequest, Tagged, session_of
from sessions.api.v2.projection import admitted
from sessions.changes import actions
from sessions.core import bus
from sessions.core.db import in_db
from sessions.core.store.inbox import PromptRefused
from sessions.core.wire.base import Wire
from sessions.core.wire.v2.base import Data
from sessions.core.wire.v2.prompts import Delivery, InputAdmitted, PromptInput, parts_of

router = Router()

LOOK_SECONDS = 1.0
"""How often a session is looked at by which nothing happens: the hint that it is idle may have been lost."""


class PromptV2(Wire):
    """`resume`: without it the prompt waits until something else wakes the session."""

    id: Annotated[str, Field(pattern=r"^msg_[0-9A-Za-z_-]{1,28}$")] | None = None
    prompt: PromptInput
    delivery: Delivery = "steer"
    resume: bool = True


@router.post("/{session_id}/prompt", operation_id="v2.session.prompt")
@answers(Data[InputAdmitted], errors=(404, 409))
async def prompt(request: HttpRequest, session_id: str, body: PromptV2) -> HttpResponse:
    """Admit a prompt, durably, and run it. The same id with the same content is the same prompt."""
    session = await session_of(session_id)
    parts = parts_of(body.prompt)
    try:
        if body.id is None or not await in_db(admitted.is_known, session.id, body.id, parts):
            row = await actions.prompt(
                session,
                parts,
                message_id=body.id or "",
                delivery=body.delivery,
                resume=body.resume,
            )
            admitted.same(row.parts, parts)  # somebody else may have been faster
            body.id = row.id
    except admitted.Conflict as error:
        words = f"Prompt {body.id} was admitted with another content, or is no prompt of this session"
        raise Tagged(409, "ConflictError", words, resource=body.id) from error
    except PromptRefused as error:
        raise InvalidRequest(f"prompt: {error}", "prompt") from error
    found = await in_db(admitted.admitted, session.id, body.id)
    if found is None:  # withdrawn in between
        raise Tagged(409, "ConflictError", f"Prompt {body.id} was withdrawn", resource=body.id)
    return wire({"data": found.wire()})


@router.post("/{session_id}/wait", operation_id="v2.session.wait")
@answers(status=204, errors=(404, 503))
async def wait(request: HttpRequest, session_id: str) -> HttpResponse:
    """Answered once the session is idle and nothing waits in it."""
    await session_of(session_id)
    async with bus.subscribe(session=session_id, wants=_may_end) as mailbox:
        while not await in_db(admitted.is_idle, session_id):
            if mailbox.overflowed:
                words = "There was too much to follow; ask again"
                raise Tagged(503, "ServiceUnavailableError", words, service="session.wait")
            await mailbox.take(LOOK_SECONDS)
    return HttpResponse(status=204)


@router.post("/{session_id}/interrupt", operation_id="v2.session.interrupt")
@answers(status=204, errors=(404,))
async def interrupt(request: HttpRequest, session_id: str) -> HttpResponse:
    """Stop what runs; of an idle session nothing."""
    await session_of(session_id)
    await actions.abort(session_id)
    return HttpResponse(status=204)


@router.post("/{session_id}/compact", operation_id="v2.session.compact")
@answers(status=204, errors=(404,))
async def compact(request: HttpRequest, session_id: str) -> HttpResponse:
    """Have the conversation summed up when the session is idle next."""
    session = await session_of(session_id)
    try:
        await actions.compact(session)
    except PromptRefused as error:
        raise InvalidRequest(str(error)) from error
    return HttpResponse(status=204)


def _may_end(event: bus.Event) -> bool:
    return event.type in ("session.idle", "session.inbox", "session.deleted", "session.status")

"""`/api/session/{id}/revert`: stage an undo, take it back, make it final."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Annotated, TypeVar

from django.http import HttpRequest, HttpResponse
from ninja import Router
from pydantic import Field

from sessions.api.base import wire
from sessions.api.described import answers
from sessions.api.v2.base import InvalidRequest, Tagged, session_of
from sessions.api.v2.projection.telling import revert_of
from sessions.api.v2.projection.timeline import resolve
from sessions.changes.operations import conversation
from sessions.changes.operations.conversation import What
from sessions.changes.operations.lock import Refused, alone
from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.principal import actor
from sessions.core.store import operations
from sessions.core.wire.base import Wire
from sessions.core.wire.v2.base import Data
from sessions.core.wire.v2.session import RevertState

router = Router()

Result = TypeVar("Result")


class StageRevert(Wire):
    """`files`: whether what was done to files is taken back too."""

    message_id: Annotated[str, Field(alias="messageID", pattern="^msg_")]
    files: bool = True


@router.post("/{session_id}/revert/stage", operation_id="v2.session.revert.stage")
@answers(Data[RevertState], errors=(404,))
async def stage(request: HttpRequest, session_id: str, body: StageRevert) -> HttpResponse:
    """Take back what was said and done from a message on; another stage moves the point."""
    session = await session_of(session_id)
    message_id = await in_db(resolve, session_id, body.message_id)
    what: What = "both" if body.files else "conversation"
    try:
        row = await _done(conversation.revert(session, message_id, what=what, actor=actor(request)))
    except conversation.UnknownMessage as error:
        ids = {"sessionID": session_id, "messageID": body.message_id}
        words = f"Message not found: {body.message_id}"
        raise Tagged(404, "MessageNotFoundError", words, **ids) from error
    return wire({"data": RevertState.model_validate(await in_db(revert_of, row)).wire()})


@router.post("/{session_id}/revert/clear", operation_id="v2.session.revert.clear")
@answers(status=204, errors=(404,))
async def clear(request: HttpRequest, session_id: str) -> HttpResponse:
    """Bring back what is staged, the files too."""
    session = await session_of(session_id)
    await _done(conversation.unrevert(session, actor=actor(request)))
    return HttpResponse(status=204)


@router.post("/{session_id}/revert/commit", operation_id="v2.session.revert.commit")
@answers(status=204, errors=(404,))
async def commit(request: HttpRequest, session_id: str) -> HttpResponse:
    """What is staged goes for good, as it does when the next prompt comes."""
    session = await session_of(session_id)
    if session.revert:
        await _done(_commit(session))
    return HttpResponse(status=204)


async def _commit(session: Session) -> None:
    async with alone(session):
        await in_db(operations.make_final, session.id)


async def _done(work: Awaitable[Result]) -> Result:
    """Raises InvalidRequest when it cannot be done now."""
    try:
        return await work
    except Refused as error:
        raise InvalidRequest(str(error)) from error

"""`/session/{id}/message`: what was said, changed and removed there; diff, undo and redo."""

from __future__ import annotations

import base64
import json
from collections.abc import Awaitable
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router
from ninja.errors import HttpError
from pydantic import Field

from sessions.api.base import Busy, NotFound, known, session_of, wire
from sessions.api.described import answers
from sessions.changes.operations import conversation
from sessions.changes.operations.conversation import Choice, told
from sessions.changes.operations.lock import Refused, leased
from sessions.changes.review.filediffs import session_diff
from sessions.core.db import in_db
from sessions.core.models import Operation, Session
from sessions.core.principal import actor
from sessions.core.store import messages
from sessions.core.store.rows import session_wire
from sessions.core.wire import ours
from sessions.core.wire.base import FileDiff, Wire
from sessions.core.wire.messages import MessageWithParts
from sessions.core.wire.parts import Part
from sessions.core.wire.session import SessionInfo
from sessions.core.wire.v2.base import Plain

router = Router()

MESSAGE = "/{session_id}/message/{message_id}"


class RevertTo(Wire):
    message_id: str = Field(alias="messageID", pattern="^msg")
    part_id: str | None = Field(default=None, alias="partID", pattern="^prt")


def paged(request: HttpRequest, page: messages.Page) -> HttpResponse:
    """A page of the history, with the cursor of what comes before it in two headers."""
    entries = page.entries if ours.asked(request) else [ours.entry(found) for found in page.entries]
    response = wire(entries)
    if page.before:
        cursor = _cursor(page.before)
        query = request.GET.copy()
        query["before"] = cursor
        address = request.build_absolute_uri(f"{request.path}?{query.urlencode()}")
        response["Link"] = f'<{address}>; rel="next"'
        response["X-Next-Cursor"] = cursor
        response["Access-Control-Expose-Headers"] = "Link, X-Next-Cursor"
    return response


class Cursor(Wire):
    id: Plain


def _cursor(info: dict[str, Any]) -> str:
    """Of a message, as OpenCode makes it: its id and time in JSON, in base64."""
    content = json.dumps({"id": info["id"], "time": info["time"]["created"]}, separators=(",", ":"))
    return base64.urlsafe_b64encode(content.encode()).decode().rstrip("=")


def message_at(cursor: str) -> str:
    """The message that a cursor names. Raises HttpError (400)."""
    try:
        return Cursor.model_validate_json(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))).id
    except ValueError as error:
        raise HttpError(400, "before: it is no cursor") from error


@router.get(MESSAGE, operation_id="session.message")
@answers(MessageWithParts, errors=(404,))
async def get_message(request: HttpRequest, session_id: str, message_id: str) -> HttpResponse:
    await known(session_id)
    found = await in_db(messages.message, session_id, message_id)
    if found is None:
        raise NotFound(f"Message not found: {message_id}")
    return wire(found if ours.asked(request) else ours.entry(found))


@router.delete(MESSAGE, operation_id="session.deleteMessage")
@answers(bool, errors=(404, 409))
async def delete_message(request: HttpRequest, session_id: str, message_id: str) -> HttpResponse:
    """What it changed in files stays as it is, and can still be taken back."""
    session = await session_of(session_id)
    try:
        async with leased(session):
            removed = await in_db(messages.remove_message, session_id, message_id)
    except Refused as error:
        raise Busy(session_id) from error
    if not removed:
        raise NotFound(f"Message not found: {message_id}")
    return wire(True)


@router.patch(MESSAGE + "/part/{part_id}", operation_id="part.update")
@answers(Part, errors=(404,))
async def change_part(
    request: HttpRequest, session_id: str, message_id: str, part_id: str, body: Part
) -> HttpResponse:
    """Put a part, new or in place of the one of this id; its ids have to be those of the address."""
    await known(session_id)
    given = {"sessionID": body.session_id, "messageID": body.message_id, "id": body.id}
    for name, value in {"sessionID": session_id, "messageID": message_id, "id": part_id}.items():
        if given[name] != value:
            raise HttpError(400, f"{name}: {given[name]!r} is not the one of the address")
    if not await in_db(messages.change_part, body):
        raise NotFound(f"There is no message {message_id} in the session that could have this part.")
    return wire(body.wire())


@router.delete(MESSAGE + "/part/{part_id}", operation_id="part.delete")
@answers(bool, errors=(404,))
async def delete_part(request: HttpRequest, session_id: str, message_id: str, part_id: str) -> HttpResponse:
    await known(session_id)
    if not await in_db(messages.remove_part, session_id, message_id, part_id):
        raise NotFound(f"Part not found: {part_id}")
    return wire(True)


@router.get("/{session_id}/diff", operation_id="session.diff")
@answers(list[FileDiff], errors=(404,))
async def diff(
    request: HttpRequest,
    session_id: str,
    messageID: Annotated[str, Query(pattern="^(msg|$)")] = "",  # noqa: N803
) -> HttpResponse:
    """Of the turn of a message, else of the whole session; none for a message of another session."""
    row = await session_of(session_id)
    return wire([item.wire() for item in await session_diff(row, messageID or None)])


@router.post("/{session_id}/revert", operation_id="session.revert")
@answers(SessionInfo, errors=(404, 409))
async def revert(request: HttpRequest, session_id: str, body: RevertTo) -> HttpResponse:
    """Who sends `X-Opencode-Web: 1` is told by `outcome` what came of each file (`review.outcomes.told`)."""
    session = await session_of(session_id)
    everything = Choice()
    work = conversation.undo_from(session, body.message_id, body.part_id, everything, actor=actor(request))
    return await _undo(request, session, work)


@router.post("/{session_id}/unrevert", operation_id="session.unrevert")
@answers(SessionInfo, errors=(404, 409))
async def unrevert(request: HttpRequest, session_id: str) -> HttpResponse:
    """As for `revert`."""
    session = await session_of(session_id)
    return await _undo(request, session, conversation.bring_back(session, actor=actor(request)))


async def _undo(request: HttpRequest, session: Session, work: Awaitable[Operation | None]) -> HttpResponse:
    try:
        operation = await work
        answer = ours.session(session_wire(await session_of(session.id)))
        if ours.asked(request):
            answer["outcome"] = told(operation)
        return wire(answer)
    except conversation.UnknownMessage as error:
        raise NotFound(str(error)) from error
    except Refused as error:
        raise Busy(session.id, str(error)) from error

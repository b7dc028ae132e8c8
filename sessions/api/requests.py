"""`/permission`: what waits for a person, and the answer.

Replies keep OpenCode's shape; the optional fields beside it are ours (see `store.permissions.Answer`).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.http import HttpRequest, HttpResponse
from ninja import Router
from ninja.errors import HttpError
from pydantic import Field

from sessions.api.base import known, project_of, wire
from sessions.api.described import answers
from sessions.changes import actions
from sessions.core.db import in_db
from sessions.core.principal import actor
from sessions.core.store import permissions
from sessions.core.store.permissions import MOST_MINUTES
from sessions.core.store.rows import permission_info
from sessions.core.wire import ours
from sessions.core.wire.base import Wire
from sessions.core.wire.session import PermissionInfo

router = Router()
session_router = Router()

Word = Literal["once", "always", "reject"]


class PermissionReply(Wire):
    reply: Word
    message: str = ""
    hash: str = ""
    scope: Literal["once", "turn", "session", "project", "minutes"] = "project"
    minutes: Annotated[int, Field(ge=1, le=MOST_MINUTES)] = 10
    patterns: list[str] | None = None
    replacement: dict[str, str | None] = Field(default_factory=dict)


class PermissionResponse(Wire):
    response: Word


@router.get("", operation_id="permission.list")
@answers(list[PermissionInfo])
async def list_requests(request: HttpRequest) -> HttpResponse:
    project = await project_of(request)
    rows = await in_db(permissions.pending, project_id=project.id)
    found = [permission_info(row).wire() for row in rows]
    return wire(found if ours.asked(request) else [ours.event("permission.asked", info) for info in found])


@router.post("/{request_id}/reply", operation_id="permission.reply")
@answers(bool, errors=(404,))
async def reply(request: HttpRequest, request_id: str, body: PermissionReply) -> HttpResponse:
    """404 also for a request that was answered already or whose turn was stopped; 409 when `hash` is that of
    something else than what waits; 400 for patterns and replacements that do not belong to it."""
    fields = ("hash", "scope", "minutes", "patterns", "replacement")
    how = {name: getattr(body, name) for name in fields}
    return await _answer(request, request_id, body.reply, body.message, how)


@session_router.post("/{session_id}/permissions/{permission_id}", operation_id="permission.respond")
@answers(bool, errors=(404,))
async def respond(
    request: HttpRequest, session_id: str, permission_id: str, body: PermissionResponse
) -> HttpResponse:
    """The older form of the same."""
    await known(session_id)
    row = await in_db(permissions.get, permission_id)
    if row is None or row.session_id != session_id:
        return _gone(permission_id)
    return await _answer(request, permission_id, body.response, "", {})


async def _answer(
    request: HttpRequest, request_id: str, answer: Word, words: str, how: dict[str, Any]
) -> HttpResponse:
    try:
        row = await actions.reply(request_id, answer, words, actor=actor(request), **how)
    except permissions.StaleReply as error:
        raise HttpError(409, str(error)) from error
    except permissions.ReplyRefused as error:
        raise HttpError(400, str(error)) from error
    return wire(True) if row else _gone(request_id)


def _gone(request_id: str) -> HttpResponse:
    message = f"No permission request {request_id} waits for an answer."
    return wire({"_tag": "PermissionNotFoundError", "requestID": request_id, "message": message}, 404)

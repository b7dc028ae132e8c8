"""`/permission`: what waits for a person, and the answer.

Replies keep OpenCode's shape; the optional fields beside it are ours (see `store.permissions.Answer`).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.http import HttpRequest, HttpResponse
from ninja import Router
from ninja.errors import HttpError
from pydantic import Field

from sessions import actions
from sessions.api.base import NotFound, project_of, wire
from sessions.db import in_db
from sessions.pages.respond import actor
from sessions.store import permissions
from sessions.store.permissions import MOST_MINUTES
from sessions.store.rows import permission_info
from sessions.wire.base import Wire

router = Router()
session_router = Router()

Word = Literal["once", "always", "reject"]


class Reply(Wire):
    reply: Word
    message: str = ""
    hash: str = ""
    scope: Literal["once", "turn", "session", "project", "minutes"] = "project"
    minutes: Annotated[int, Field(ge=1, le=MOST_MINUTES)] = 10
    patterns: list[str] | None = None
    replacement: dict[str, str | None] = Field(default_factory=dict)


class Response(Wire):
    response: Word


@router.get("")
async def list_requests(request: HttpRequest) -> HttpResponse:
    project = await project_of(request)
    rows = await in_db(permissions.pending, project_id=project.id)
    return wire([permission_info(row).wire() for row in rows])


@router.post("/{request_id}/reply")
async def reply(request: HttpRequest, request_id: str, body: Reply) -> HttpResponse:
    """404 also for a request that was answered already or whose turn was stopped; 409 when `hash` is that of
    something else than what waits; 400 for patterns and replacements that do not belong to it."""
    fields = ("hash", "scope", "minutes", "patterns", "replacement")
    how = {name: getattr(body, name) for name in fields}
    return await _answer(request, request_id, body.reply, body.message, how)


@session_router.post("/{session_id}/permissions/{request_id}")
async def respond(request: HttpRequest, session_id: str, request_id: str, body: Response) -> HttpResponse:
    """The older form of the same."""
    row = await in_db(permissions.get, request_id)
    if row is None or row.session_id != session_id:
        raise _gone(request_id)
    return await _answer(request, request_id, body.response, "", {})


async def _answer(
    request: HttpRequest, request_id: str, answer: Word, words: str, how: dict[str, Any]
) -> HttpResponse:
    try:
        row = await actions.reply(request_id, answer, words, actor=actor(request), **how)
    except permissions.StaleReply as error:
        raise HttpError(409, str(error)) from error
    except permissions.ReplyRefused as error:
        raise HttpError(400, str(error)) from error
    if row is None:
        raise _gone(request_id)
    return wire(True)


def _gone(request_id: str) -> NotFound:
    return NotFound(f"No permission request {request_id} waits for an answer.")

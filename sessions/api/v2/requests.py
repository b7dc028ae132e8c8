"""`/api/permission` and the permissions of a session: what waits, what is saved, a request from outside."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Router
from pydantic import Field, StringConstraints

from sessions.api.base import project_of, wire
from sessions.api.described import answers
from sessions.api.v2.base import InvalidRequest, Tagged, checked, located, session_of
from sessions.changes import actions
from sessions.core.db import in_db
from sessions.core.models import PermissionRequest, Project, SavedRule, Session
from sessions.core.principal import actor
from sessions.core.store import permissions
from sessions.core.store.rows import permission_info
from sessions.core.wire.base import Wire
from sessions.core.wire.v2 import requests as shapes
from sessions.core.wire.v2.base import Data, Located

router = Router()

Action = Annotated[str, StringConstraints(min_length=1, max_length=128)]


class AskPermission(Wire):
    """`save` are the patterns that "always" would allow; `agent` is whose rules count."""

    id: Annotated[str, Field(pattern=r"^per[0-9A-Za-z_-]{1,29}$")] | None = None
    action: Action
    resources: list[str]
    save: list[str] = Field(default_factory=list)
    metadata: dict[str, Any] = Field(default_factory=dict)
    source: shapes.ToolSource | None = None
    agent: str = ""


class ReplyPermission(Wire):
    reply: shapes.Reply
    message: str = ""


Judge = Callable[[Session, AskPermission], Awaitable[tuple[shapes.Effect, str]]]
"""Decides by the rules, and asks when these do: what came of it, and the id of the request."""


@dataclass
class _Hook:
    judge: Judge | None = field(default=None)


_hook = _Hook()


def judged_by(judge: Judge) -> None:
    """The rules are the agents'; they register here."""
    _hook.judge = judge


@router.get("/permission/request", operation_id="v2.permission.request.list")
@answers(Located[list[shapes.PermissionV2]])
async def list_everywhere(request: HttpRequest) -> HttpResponse:
    project = await project_of(request)
    return await located(request, _told(await in_db(permissions.pending, project_id=project.id)))


@router.get("/permission/saved", operation_id="v2.permission.saved.list")
@answers(Data[list[shapes.SavedPermission]])
async def list_saved(request: HttpRequest, projectID: str = "") -> HttpResponse:  # noqa: N803
    """Rules that were made with an answer and still allow something."""
    rows = await in_db(_saved, projectID)
    data = [
        shapes.SavedPermission(
            id=str(row.pk), project_id=row.project_id, action=row.permission, resource=row.pattern
        )
        for row in rows
    ]
    return wire({"data": [item.wire() for item in data]})


@router.delete("/permission/saved/{id}", operation_id="v2.permission.saved.remove")
@answers(status=204)
async def remove_saved(request: HttpRequest, id: str) -> HttpResponse:
    """Also answered so when there is none of this id."""
    if id.isascii() and id.isdecimal() and len(id) < 19:
        await in_db(permissions.revoke, int(id), actor(request))
    return HttpResponse(status=204)


@router.post("/session/{session_id}/permission", operation_id="v2.session.permission.create")
@answers(Data[shapes.Decided], errors=(404,))
async def create(request: HttpRequest, session_id: str, body: AskPermission) -> HttpResponse:
    """Decide by the rules of the session's agent; a person is asked where these say so."""
    session = await session_of(session_id)
    if body.id is not None and await in_db(permissions.get, body.id) is not None:
        raise InvalidRequest(f"id: {body.id} is in use", "id")
    assert _hook.judge is not None, "the agents register at the start"
    effect, request_id = await _hook.judge(session, body)
    return wire({"data": shapes.Decided(id=request_id, effect=effect).wire()})


@router.get("/session/{session_id}/permission", operation_id="v2.session.permission.list")
@answers(Data[list[shapes.PermissionV2]], errors=(404,))
async def list_of_session(request: HttpRequest, session_id: str) -> HttpResponse:
    await session_of(session_id)
    return wire({"data": _told(await in_db(permissions.pending, session_id=session_id))})


@router.get("/session/{session_id}/permission/{request_id}", operation_id="v2.session.permission.get")
@answers(Data[shapes.PermissionV2], errors=(404,))
async def get(request: HttpRequest, session_id: str, request_id: str) -> HttpResponse:
    return wire({"data": _told([await _pending(session_id, request_id)])[0]})


@router.post(
    "/session/{session_id}/permission/{request_id}/reply", operation_id="v2.session.permission.reply"
)
@answers(status=204, errors=(404,))
async def reply(
    request: HttpRequest, session_id: str, request_id: str, body: ReplyPermission
) -> HttpResponse:
    await _pending(session_id, request_id)
    try:
        row = await actions.reply(request_id, body.reply, body.message, actor=actor(request))
    except permissions.ReplyRefused as error:
        raise InvalidRequest(str(error)) from error
    if row is None:
        raise _gone(request_id)
    return HttpResponse(status=204)


def _saved(project_id: str) -> list[SavedRule]:
    """Of a project, or of all."""
    known = [project_id] if project_id else Project.objects.values_list("id", flat=True)
    return [rule for id in known for rule in permissions.rules(id)]


async def _pending(session_id: str, request_id: str) -> PermissionRequest:
    """Raises Tagged (404): also for a request of another session, and for one that was answered."""
    await session_of(session_id)
    row = await in_db(permissions.get, checked(request_id, "per", "requestID"))
    if row is None or row.session_id != session_id or row.state != "pending":
        raise _gone(request_id)
    return row


def _gone(request_id: str) -> Tagged:
    words = f"Permission request not found: {request_id}"
    return Tagged(404, "PermissionNotFoundError", words, requestID=request_id)


def _told(rows: list[PermissionRequest]) -> list[dict[str, Any]]:
    return [shapes.permission_of(permission_info(row)).wire() for row in rows]

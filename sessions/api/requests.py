"""`/permission`: what waits for a person, and the answer."""

from __future__ import annotations

from typing import Literal

from django.http import HttpRequest, HttpResponse
from ninja import Router

from sessions import actions
from sessions.api.base import NotFound, project_of, wire
from sessions.db import in_db
from sessions.store import permissions
from sessions.store.rows import permission_info
from sessions.wire.base import Wire

router = Router()


class Reply(Wire):
    reply: Literal["once", "always", "reject"]
    message: str = ""


@router.get("")
async def list_requests(request: HttpRequest) -> HttpResponse:
    project = await project_of(request)
    rows = await in_db(permissions.pending, project_id=project.id)
    return wire([permission_info(row).wire() for row in rows])


@router.post("/{request_id}/reply")
async def reply(request: HttpRequest, request_id: str, body: Reply) -> HttpResponse:
    """404 also for a request that was answered already or whose turn was stopped."""
    row = await actions.reply(request_id, body.reply, body.message)
    if row is None:
        raise NotFound(f"No permission request {request_id} waits for an answer.")
    return wire(True)

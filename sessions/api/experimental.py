"""`/experimental`: what this server can do, consoles, workspaces, and moving a session.

There is no console and there are no workspaces here: a client is told so in the shapes it expects.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Router
from pydantic import Field

from sessions.api.base import NotFound, session_of, wire
from sessions.api.described import answers
from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.paths import normalized
from sessions.core.store import projects
from sessions.core.store import sessions as session_store
from sessions.core.wire.base import Wire

router = Router()

SessionID = Annotated[str, Field(alias="sessionID", pattern="^ses")]


class Capabilities(Wire):
    background_subagents: bool = Field(alias="backgroundSubagents")


class Console(Wire):
    console_managed_providers: list[str] = Field(alias="consoleManagedProviders")
    switchable_org_count: int = Field(alias="switchableOrgCount")


class Organisations(Wire):
    orgs: list[Any]


class Organisation(Wire):
    account_id: str = Field(alias="accountID")
    org_id: str = Field(alias="orgID")


class NewWorkspace(Wire):
    type: str


class Warp(Wire):
    """Where a session is to go: a workspace, or with null back to this server."""

    id: Annotated[str, Field(pattern="^wrk")] | None
    session_id: SessionID


class Destination(Wire):
    directory: str


class Move(Wire):
    session_id: SessionID
    destination: Destination


@router.get("/capabilities", operation_id="experimental.capabilities.get")
@answers(Capabilities)
async def capabilities(request: HttpRequest) -> HttpResponse:
    return wire({"backgroundSubagents": False})


@router.get("/console", operation_id="experimental.console.get")
@answers(Console)
async def console(request: HttpRequest) -> HttpResponse:
    return wire({"consoleManagedProviders": [], "switchableOrgCount": 0})


@router.get("/console/orgs", operation_id="experimental.console.listOrgs")
@answers(Organisations)
async def organisations(request: HttpRequest) -> HttpResponse:
    return wire({"orgs": []})


@router.post("/console/switch", operation_id="experimental.console.switchOrg")
@answers(bool)
async def switch_organisation(request: HttpRequest, body: Organisation) -> HttpResponse:
    return wire({"_tag": "BadRequest"}, 400)


@router.get("/workspace", operation_id="experimental.workspace.list")
@answers(list[Any])
async def workspaces(request: HttpRequest) -> HttpResponse:
    return wire([])


@router.get("/workspace/adapter", operation_id="experimental.workspace.adapter.list")
@answers(list[Any])
async def adapters(request: HttpRequest) -> HttpResponse:
    return wire([])


@router.get("/workspace/status", operation_id="experimental.workspace.status")
@answers(list[Any])
async def workspace_status(request: HttpRequest) -> HttpResponse:
    return wire([])


@router.post("/workspace", operation_id="experimental.workspace.create")
@answers()
async def create_workspace(request: HttpRequest, body: NewWorkspace) -> HttpResponse:
    message = f"There is no workspace adapter {body.type!r} here; /experimental/worktree makes worktrees."
    return wire({"name": "WorkspaceCreateError", "data": {"message": message}}, 400)


@router.post("/workspace/sync-list", operation_id="experimental.workspace.syncList")
@answers(status=204)
async def sync_workspaces(request: HttpRequest) -> HttpResponse:
    return HttpResponse(status=204)


@router.post("/workspace/warp", operation_id="experimental.workspace.warp")
@answers(status=204, errors=(404,))
async def warp(request: HttpRequest, body: Warp) -> HttpResponse:
    if body.id is not None:
        raise NotFound(f"Workspace not found: {body.id}")
    await session_of(body.session_id)  # it is here
    return HttpResponse(status=204)


@router.delete("/workspace/{id}", operation_id="experimental.workspace.remove")
@answers()
async def remove_workspace(request: HttpRequest, id: str) -> HttpResponse:
    """null: it is not there."""
    return wire(None)


@router.post("/control-plane/move-session", operation_id="experimental.controlPlane.moveSession")
@answers(status=204)
async def move_session(request: HttpRequest, body: Move) -> HttpResponse:
    """Within its project: what its turns changed is told, and undone, in the project's folder."""
    try:
        row = await session_of(body.session_id)
    except NotFound as error:
        return _cannot_move(str(error))
    directory = Path(normalized(body.destination.directory))
    if not await asyncio.to_thread(_is_folder, directory):
        return _cannot_move(f"destination: There is no folder {str(directory)!r}.")
    if why := await in_db(_move, row, directory):
        return _cannot_move(why)
    return HttpResponse(status=204)


def _is_folder(directory: Path) -> bool:
    try:
        return directory.is_absolute() and directory.is_dir()
    except (OSError, ValueError):
        return False


def _move(row: Session, directory: Path) -> str:
    """Why it could not be done; empty when it was."""
    if projects.project_of(directory, look=True).id != row.project_id:
        return "destination: The folder is not in the session's project; a fork can have a worktree."
    if row.lease_owner:
        return f"Session is busy: {row.id}"
    session_store.update(row.id, directory=str(directory))
    return ""


def _cannot_move(message: str) -> HttpResponse:
    return wire({"name": "MoveSessionError", "data": {"message": message}}, 400)

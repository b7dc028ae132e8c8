"""`/session`: create, list, get, change, delete, status, todos, diff, undo."""

from __future__ import annotations

from typing import Any, Literal

from django.http import HttpRequest, HttpResponse
from ninja import Router
from pydantic import Field

from sessions import actions
from sessions.api.base import NotFound, Refused, directory_of, project_of, session_of, wire
from sessions.db import in_db
from sessions.pages.respond import actor
from sessions.review import diffs, reverting
from sessions.store import children, staging, todos
from sessions.store import sessions as session_store
from sessions.store.rows import session_wire
from sessions.wire.base import Wire
from sessions.wire.session import SessionModel

router = Router()


class SessionRule(Wire):
    permission: str
    pattern: str
    action: Literal["allow", "deny", "ask"]


class NewSession(Wire):
    title: str = ""
    parent_id: str | None = Field(default=None, alias="parentID", pattern="^ses")
    agent: str = ""
    model: SessionModel | None = None
    permission: list[SessionRule] = Field(default_factory=list)


class SessionTimes(Wire):
    archived: int | None = None


class SessionChange(Wire):
    """`staging` is ours: review mode, of the topmost session. What is staged when it is turned off goes on
    waiting."""

    title: str | None = None
    staging: bool | None = None
    time: SessionTimes | None = None
    permission: list[SessionRule] | None = None


class RevertTo(Wire):
    message_id: str = Field(alias="messageID", pattern="^msg")
    part_id: str | None = Field(default=None, alias="partID", pattern="^prt")


@router.get("")
async def list_sessions(
    request: HttpRequest, search: str = "", roots: bool = False, limit: int = 100
) -> HttpResponse:
    project = await project_of(request)
    given = request.GET.get("directory", "")
    return wire(await in_db(_listing, project, search=search, roots=roots, directory=given, limit=limit))


def _listing(*arguments: Any, **options: Any) -> list[dict[str, Any]]:
    return [session_wire(row) for row in session_store.listing(*arguments, **options)]


@router.post("")
async def create_session(request: HttpRequest, body: NewSession | None = None) -> HttpResponse:
    project = await project_of(request)
    given = body or NewSession()
    if given.parent_id and (await session_of(given.parent_id)).project_id != project.id:
        raise NotFound(f"Session not found: {given.parent_id}")
    row = await in_db(
        session_store.create,
        project,
        str(directory_of(request)),
        title=given.title,
        parent=given.parent_id,
        permission=[rule.wire() for rule in given.permission],
        agent=given.agent,
        model=given.model,
    )
    return wire(session_wire(row))


@router.get("/status")
async def status(request: HttpRequest) -> HttpResponse:
    """The sessions that are not idle, as OpenCode answers."""
    project = await project_of(request)
    rows = await in_db(session_store.listing, project, limit=1000)
    return wire({row.id: row.status for row in rows if row.status.get("type", "idle") != "idle"})


@router.get("/{session_id}")
async def get_session(request: HttpRequest, session_id: str) -> HttpResponse:
    return wire(session_wire(await session_of(session_id)))


@router.patch("/{session_id}")
async def change_session(request: HttpRequest, session_id: str, body: SessionChange) -> HttpResponse:
    row = await session_of(session_id)
    columns: dict[str, Any] = {}
    if body.title is not None:
        columns |= {"title": body.title, "titled": True}
    if body.time is not None:
        columns["time_archived"] = body.time.archived
    if body.permission is not None:
        columns["permission"] = [*row.permission, *(rule.wire() for rule in body.permission)]
    changed = await in_db(session_store.update, session_id, **columns) if columns else row
    if body.staging is not None:
        await in_db(staging.switch, row, body.staging)
        changed = await in_db(session_store.get, session_id)
    return wire(session_wire(changed or row))


@router.delete("/{session_id}")
async def delete_session(request: HttpRequest, session_id: str) -> HttpResponse:
    await session_of(session_id)
    await actions.delete(session_id)
    return wire(True)


@router.get("/{session_id}/children")
async def list_children(request: HttpRequest, session_id: str) -> HttpResponse:
    await session_of(session_id)
    return wire([session_wire(row) for row in await in_db(children.listing, session_id)])


@router.post("/{session_id}/abort")
async def abort(request: HttpRequest, session_id: str) -> HttpResponse:
    await session_of(session_id)
    await actions.abort(session_id)
    return wire(True)


@router.get("/{session_id}/todo")
async def list_todos(request: HttpRequest, session_id: str) -> HttpResponse:
    await session_of(session_id)
    return wire([todo.wire() for todo in await in_db(todos.listing, session_id)])


@router.get("/{session_id}/diff")
async def diff(request: HttpRequest, session_id: str, messageID: str = "") -> HttpResponse:  # noqa: N803
    row = await session_of(session_id)
    return wire([item.wire() for item in await diffs.session_diff(row, messageID or None)])


@router.post("/{session_id}/revert")
async def revert(request: HttpRequest, session_id: str, body: RevertTo) -> HttpResponse:
    session = await session_of(session_id)
    return await _undo(reverting.revert(session, body.message_id, body.part_id, actor=actor(request)))


@router.post("/{session_id}/unrevert")
async def unrevert(request: HttpRequest, session_id: str) -> HttpResponse:
    return await _undo(reverting.unrevert(await session_of(session_id), actor=actor(request)))


async def _undo(work: Any) -> HttpResponse:
    try:
        return wire(session_wire(await work))
    except reverting.UnknownMessage as error:
        raise NotFound(str(error)) from error
    except reverting.RevertRefused as error:
        raise Refused(str(error)) from error

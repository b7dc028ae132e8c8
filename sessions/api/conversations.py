"""`/session`: create, list, get, change, delete, fork, move, abort, status, todos."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Literal

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router
from ninja.errors import HttpError
from pydantic import Field

from sessions.api.base import (
    NotFound,
    directory_of,
    json_answer,
    known,
    project_in,
    project_of,
    session_answer,
    session_in,
    session_of,
    wire,
)
from sessions.api.described import answers
from sessions.changes import actions
from sessions.changes.worktrees import moving
from sessions.changes.worktrees.making import CannotFork
from sessions.core import wake
from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.models.ledger import shown
from sessions.core.principal import actor
from sessions.core.sharing import base_of, shared_new
from sessions.core.store import (
    added_folders,
    children,
    forks,
    lists,
    messages,
    presets,
    resumption,
    staging,
    todos,
)
from sessions.core.store import sessions as session_store
from sessions.core.store.rows import session_wire
from sessions.core.wire import ours
from sessions.core.wire.base import Amount, Moment, Wire
from sessions.core.wire.session import Preset, SessionInfo, SessionModel, SessionRule, Status, TodoInfo
from sessions.terminals.lines import start_up

router = Router()

SINGLE = (404,)
"""What else an operation on one session answers."""


Flag = Literal["true", "false"]


class Listing(Wire):
    """The query of a list. With `scope=project` or `path` it is not bound to the folder alone."""

    directory: str = ""
    scope: Literal["project", ""] = ""
    path: str = ""
    roots: Flag = "false"
    start: Moment | None = None
    search: str = ""
    limit: Amount = 100


class NewSession(Wire):
    title: str = ""
    parent_id: str | None = Field(default=None, alias="parentID", pattern="^ses")
    agent: str = ""
    model: SessionModel | None = None
    metadata: dict[str, Any] | None = None
    permission: list[SessionRule] = Field(default_factory=list)


class SessionTimes(Wire):
    archived: Moment | None = None


class FolderGiven(Wire):
    """A folder beside the project, from that of the session."""

    path: str
    write: bool = False


class SessionChange(Wire):
    """`permission` is added to the rules there are, `metadata` takes the place of what there was; 0 or null
    as the time of its archiving brings a session back. `staging` is ours: review mode, of the topmost
    session. What is staged when it is turned off goes on waiting. So is `preset`, of the topmost session and
    those below it; `folders` are added to those that they may read, or
    write: paths, or `{path, write}`."""

    title: str | None = None
    staging: bool | None = None
    preset: Preset | None = None
    folders: list[str | FolderGiven] | None = None
    time: SessionTimes | None = None
    metadata: dict[str, Any] | None = None
    permission: list[SessionRule] | None = None

    def columns(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if self.title is not None:
            found |= {"title": self.title, "titled": True}
        if self.time is not None and "archived" in self.time.model_fields_set:
            found["time_archived"] = int(self.time.archived or 0) or None
        if self.metadata is not None:
            found["metadata"] = self.metadata
        return found


class ForkAt(Wire):
    message_id: str = Field(default="", alias="messageID", pattern="^(msg|$)")


class Move(Wire):
    """`name` of the worktree; `own`: only the files that the session changed; `keep`: they stay in the
    original folder as well."""

    name: str = Field(default="", max_length=200)
    files: Literal["all", "own"] = "all"
    keep: bool = False


class MovableFile(Wire):
    file: str
    own: bool
    staged: bool


class Movable(Wire):
    """`ignored` files are copied; those `leftOut` stay, and cannot be undone in the worktree."""

    files: list[MovableFile]
    ignored: list[str]
    left_out: list[str] = Field(alias="leftOut")


class LeftFile(Wire):
    file: str
    reason: str


class Moved(Wire):
    """`left` are files that went along and are in the original folder still."""

    session: SessionInfo
    left: list[LeftFile]


@router.get("", operation_id="session.list")
@answers(list[SessionInfo])
async def list_sessions(request: HttpRequest, query: Query[Listing]) -> HttpResponse:
    """The sessions of the project, archived ones among them, the last used first."""
    return json_answer(await in_db(_listing, directory_of(request), query, own=ours.asked(request)))


def _listing(folder: Path, query: Listing, *, own: bool) -> str:
    rows = lists.matching(
        project_in(folder, look=True),
        search=query.search,
        roots=query.roots == "true",
        archived=True,
        directory="" if query.scope or query.path else query.directory,
        path=query.path,
        start=None if query.start is None else int(query.start),
    )
    return lists.encoded(rows[: query.limit], own=own)


@router.post("", operation_id="session.create")
@answers(SessionInfo)
async def create_session(request: HttpRequest, body: NewSession | None = None) -> HttpResponse:
    created = await in_db(_create, directory_of(request), body or NewSession(), base_of(request))
    return session_answer(request, created)


def _create(directory: Path, given: NewSession, base: str) -> dict[str, Any]:
    project = project_in(directory, look=False)
    if given.parent_id and session_in(given.parent_id).project_id != project.id:
        raise NotFound(f"Session not found: {given.parent_id}")
    row = session_store.create(
        project,
        str(directory),
        title=given.title,
        parent=given.parent_id,
        permission=[rule.wire() for rule in given.permission],
        agent=given.agent,
        model=given.model,
        metadata=given.metadata,
    )
    return session_wire(row if given.parent_id else shared_new(row, base))


@router.get("/status", operation_id="session.status")
@answers(dict[str, Status])
async def status(request: HttpRequest) -> HttpResponse:
    """The sessions that are not idle, as OpenCode answers."""
    project = await project_of(request)
    return wire(await in_db(session_store.at_work, project.id))


@router.get("/{session_id}", operation_id="session.get")
@answers(SessionInfo, errors=SINGLE)
async def get_session(request: HttpRequest, session_id: str) -> HttpResponse:
    return session_answer(request, session_wire(await session_of(session_id)))


@router.patch("/{session_id}", operation_id="session.update")
@answers(SessionInfo, errors=SINGLE)
async def change_session(request: HttpRequest, session_id: str, body: SessionChange) -> HttpResponse:
    row = await session_of(session_id)
    columns, changed = body.columns(), None
    if body.permission is not None:
        rules = [rule.wire() for rule in body.permission]
        changed = await in_db(session_store.add_rules, session_id, rules, **columns)
    elif columns:
        changed = await in_db(session_store.update, session_id, **columns)
    if body.staging is not None:
        await in_db(staging.switch, row, body.staging)
        changed = await in_db(session_store.get, session_id)
    if body.preset is not None:
        changed = await in_db(presets.switch, row, body.preset, actor(request))
        await wake.answered(session_id, "")
    for given in body.folders or ():
        changed = await _add_folder(row, given)
    return session_answer(request, session_wire(changed or row))


async def _add_folder(row: Session, given: str | FolderGiven) -> Session | None:
    """Raises HttpError for one that cannot be added."""
    named = FolderGiven(path=given) if isinstance(given, str) else given
    try:
        path = await asyncio.to_thread(
            added_folders.checked,
            named.path,
            Path(row.directory),
            Path(row.project.worktree),
            write=named.write,
        )
        return await in_db(added_folders.add, row, path, write=named.write)
    except added_folders.Refused as problem:
        raise HttpError(400, str(problem)) from problem


@router.delete("/{session_id}", operation_id="session.delete")
@answers(bool, errors=SINGLE)
async def delete_session(request: HttpRequest, session_id: str) -> HttpResponse:
    await known(session_id)
    await actions.delete(session_id)
    return wire(True)


@router.get("/{session_id}/children", operation_id="session.children")
@answers(list[SessionInfo], errors=SINGLE)
async def list_children(request: HttpRequest, session_id: str) -> HttpResponse:
    await known(session_id)
    found = await in_db(lambda: [session_wire(row) for row in children.listing(session_id)])
    return wire(found if ours.asked(request) else [ours.session(info) for info in found])


@router.post("/{session_id}/abort", operation_id="session.abort")
@answers(bool, errors=SINGLE)
async def abort(request: HttpRequest, session_id: str) -> HttpResponse:
    """Also of a session where nothing runs."""
    await known(session_id)
    await actions.abort(session_id)
    return wire(True)


@router.post("/{session_id}/resume", operation_id="session.resume")
@answers(status=204, errors=SINGLE)
async def resume(request: HttpRequest, session_id: str) -> HttpResponse:
    """Go on with the last turn, where the server's end, an error or a stop cut it off (ours); 400 when there
    is none."""
    await known(session_id)
    try:
        await actions.resume(session_id)
    except resumption.NothingToResume as error:
        raise HttpError(400, str(error)) from error
    return HttpResponse(status=204)


@router.get("/{session_id}/todo", operation_id="session.todo")
@answers(list[TodoInfo], errors=SINGLE)
async def list_todos(request: HttpRequest, session_id: str) -> HttpResponse:
    await known(session_id)
    return wire([todo.wire() for todo in await in_db(todos.listing, session_id)])


@router.get("/{session_id}/move", operation_id="session.move.preview")
@answers(Movable, errors=SINGLE)
async def preview_move(request: HttpRequest, session_id: str) -> HttpResponse:
    """What a move to a worktree would take along (ours); 400 with the reason where it cannot be moved now."""
    now = await moving.preview(await session_of(session_id))
    if now.found is None:
        raise HttpError(400, now.refusal)
    found = now.found
    files = [{"file": one.name, "own": one.own, "staged": one.staged} for one in found.files]
    return wire(
        {
            "files": files,
            "ignored": [shown(path) for path in found.ignored],
            "leftOut": [shown(path) for path in found.left_out],
        }
    )


@router.post("/{session_id}/move", operation_id="session.move")
@answers(Moved, errors=SINGLE)
async def move(request: HttpRequest, session_id: str, body: Move | None = None) -> HttpResponse:
    """To a new worktree, with the sessions below it and what is in no commit (ours); 400 with the reason
    where it cannot be moved, and nothing has happened."""
    session, given = await session_of(session_id), body or Move()
    how: dict[str, Any] = {"name": given.name, "which": given.files, "keep": given.keep}
    try:
        moved = await moving.move(session, actor=actor(request), **how)
    except CannotFork as problem:
        raise HttpError(400, str(problem)) from problem
    await start_up(moved.session.project_id, moved.session.directory)
    info = session_wire(moved.session)
    left = [{"file": name, "reason": why} for name, why in moved.left]
    return wire({"session": info if ours.asked(request) else ours.session(info), "left": left})


@router.post("/{session_id}/fork", operation_id="session.fork")
@answers(SessionInfo, errors=(404,))
async def fork(request: HttpRequest, session_id: str, body: ForkAt | None = None) -> HttpResponse:
    """A new session with a copy of the conversation, up to a message (not included) or whole."""
    session = await session_of(session_id)
    before = body.message_id if body else ""
    if before and await in_db(messages.message, session_id, before) is None:
        raise NotFound(f"Message not found: {before}")
    return session_answer(request, session_wire(await in_db(forks.fork, session, before)))

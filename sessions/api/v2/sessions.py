"""`/api/session`: sessions by pages, one of them, its agent and model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router
from pydantic import StringConstraints

from sessions.api.base import NotFound, NotOpened, directory_of, wire
from sessions.api.described import answers
from sessions.api.v2.base import InvalidRequest, session_of
from sessions.api.v2.cursors import Order, Place, decode, encode, size
from sessions.api.v2.projection import listing
from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.sharing import base_of, shared_new
from sessions.core.store import projects
from sessions.core.store import sessions as session_store
from sessions.core.wire.base import Wire
from sessions.core.wire.session import SessionModel
from sessions.core.wire.v2 import session as shapes
from sessions.core.wire.v2.base import Cursors, Data, LocationRef, Page, Plain

router = Router()

DEFAULT_PAGE = 50
NewID = Annotated[str, StringConstraints(pattern=r"^ses[0-9A-Za-z_-]{1,29}$")]
Name = Annotated[str, StringConstraints(min_length=1, max_length=64)]


class NewSessionV2(Wire):
    """With an id that there is already nothing is made: the same session is answered."""

    id: NewID | None = None
    agent: Name | None = None
    model: SessionModel | None = None
    location: LocationRef | None = None


class SwitchAgent(Wire):
    agent: Name


class SwitchModel(Wire):
    model: SessionModel


class Which(Wire):
    """Which sessions are wanted; `subpath` is a folder within the project."""

    search: Plain = ""
    directory: Plain = ""
    project: Plain = ""
    subpath: Plain = ""


class SessionPlace(Which, Place):
    """`time` is when the session was made (ms)."""

    time: int


class Listed(Which):
    workspace: str = ""
    limit: int | None = None
    order: Order | None = None
    cursor: str = ""


@router.get("", operation_id="v2.session.list")
@answers(Page[shapes.SessionV2])
async def list_sessions(request: HttpRequest, query: Query[Listed]) -> HttpResponse:
    """By the time they were made, which never changes, so pages stay right while sessions are added."""
    limit = size(query.limit, DEFAULT_PAGE)
    if query.cursor:
        place = decode(query.cursor, SessionPlace)
        start: tuple[int, str] | None = (place.time, place.id)
    else:
        given = query.model_dump(include=set(Which.model_fields))
        place = SessionPlace(order=query.order or "desc", id="", time=0, **given)
        start = None
    which = place.model_dump(include=set(Which.model_fields))
    rows = await in_db(listing.page, start, newest=place.newest, limit=limit, **which)
    if place.direction == "previous":
        rows.reverse()
    data = [shape.wire() for shape in await in_db(listing.shapes_of, rows)]
    return wire({"data": data, "cursor": _cursors(place, rows)})


@router.post("", operation_id="v2.session.create")
@answers(Data[shapes.SessionV2])
async def create_session(request: HttpRequest, body: NewSessionV2 | None = None) -> HttpResponse:
    given = body or NewSessionV2()
    directory = _directory(request, given.location)
    return wire(await in_db(_created, given, directory, base_of(request)))


@router.get("/active", operation_id="v2.session.active")
@answers(Data[dict[str, shapes.ActiveSession]])
async def active(request: HttpRequest) -> HttpResponse:
    """The sessions that are at work."""
    running = shapes.ActiveSession().wire()
    return wire({"data": dict.fromkeys(await in_db(session_store.at_work), running)})


@router.get("/{session_id}", operation_id="v2.session.get")
@answers(Data[shapes.SessionV2], errors=(404,))
async def get_session(request: HttpRequest, session_id: str) -> HttpResponse:
    return await _answer(await session_of(session_id))


@router.post("/{session_id}/agent", operation_id="v2.session.switchAgent")
@answers(status=204, errors=(404,))
async def switch_agent(request: HttpRequest, session_id: str, body: SwitchAgent) -> HttpResponse:
    """For the next provider turn; a turn that runs is not started anew."""
    row = await session_of(session_id)
    if row.agent != body.agent:
        await in_db(session_store.update, row.id, agent=body.agent)
    return HttpResponse(status=204)


@router.post("/{session_id}/model", operation_id="v2.session.switchModel")
@answers(status=204, errors=(404,))
async def switch_model(request: HttpRequest, session_id: str, body: SwitchModel) -> HttpResponse:
    row = await session_of(session_id)
    given = {
        "provider_id": body.model.provider_id,
        "model_id": body.model.id,
        "variant": body.model.variant or "",
    }
    if any(getattr(row, name) != value for name, value in given.items()):
        await in_db(session_store.update, row.id, **given)
    return HttpResponse(status=204)


def _created(given: NewSessionV2, directory: Path, base: str) -> dict[str, Any]:
    known = session_store.get(given.id) if given.id else None
    return _data(known or shared_new(_made(given, directory), base))


def _made(given: NewSessionV2, directory: Path) -> Session:
    """Raises InvalidRequest for the id of a session that is deleted."""
    if given.id and listing.is_taken(given.id):
        raise InvalidRequest(f"id: {given.id} was deleted", "id")
    try:
        project = projects.project_of(directory)
    except OSError as error:
        raise InvalidRequest(f"{directory} cannot be opened: {error.strerror}", "location") from error
    choice: dict[str, Any] = {"agent": given.agent or "", "model": given.model, "id": given.id or ""}
    return session_store.create(project, str(directory), **choice)


def _directory(request: HttpRequest, location: LocationRef | None) -> Path:
    """Raises InvalidRequest."""
    try:
        return directory_of(request, location.directory if location else "")
    except NotOpened:
        raise
    except NotFound as error:
        raise InvalidRequest(str(error), "location.directory") from error


async def _answer(row: Session) -> HttpResponse:
    return wire(await in_db(_data, row))


def _data(row: Session) -> dict[str, Any]:
    (shape,) = listing.shapes_of([row])
    return {"data": shape.wire()}


def _cursors(place: SessionPlace, rows: list[Session]) -> dict[str, Any]:
    if not rows:
        return {}
    first, last = (
        place.model_copy(update={"direction": direction, "id": row.id, "time": row.time_created})
        for direction, row in (("previous", rows[0]), ("next", rows[-1]))
    )
    return Cursors(previous=encode(first), next=encode(last)).wire()

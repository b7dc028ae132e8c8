"""`/sync`: what happened to sessions, for servers that keep copies of each other's.

There are no workspaces here: nothing is synchronised by itself, and no session is taken over from one.
"""

from __future__ import annotations

from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Router
from pydantic import Field, RootModel, ValidationError

from sessions.api.base import wire
from sessions.api.described import answers
from sessions.api.v2.projection import sync
from sessions.core.db import in_db
from sessions.core.store import importing
from sessions.core.store.folders import NotTaken
from sessions.core.wire.base import Amount, Wire
from sessions.core.wire.messages import MESSAGE
from sessions.core.wire.parts import PART
from sessions.core.wire.session import SessionInfo

router = Router()

Json = dict[str, Any]


class SyncEvent(Wire):
    id: str = Field(pattern="^evt_")
    aggregate_id: str = Field(alias="aggregateID", pattern="^ses")
    seq: Amount
    type: str
    data: Json


class LoggedEvent(Wire):
    """The same in a history."""

    id: str
    aggregate_id: str
    seq: int
    type: str
    data: Json


class Known(RootModel[dict[str, Amount]]):
    """The last `seq` that a client has of each session."""


class Replay(Wire):
    directory: str
    events: Annotated[list[SyncEvent], Field(min_length=1)]


class OfSession(Wire):
    session_id: str = Field(alias="sessionID", pattern="^ses")


@router.post("/start", operation_id="sync.start")
@answers(bool)
async def start(request: HttpRequest) -> HttpResponse:
    """True: of the workspaces there are none."""
    return wire(True)


@router.post("/steal", operation_id="sync.steal")
@answers(OfSession)
async def steal(request: HttpRequest, body: OfSession) -> HttpResponse:
    """400: a request names no workspace that a session could be taken into."""
    return wire({"_tag": "BadRequest"}, 400)


@router.post("/history", operation_id="sync.history.list")
@answers(list[LoggedEvent])
async def history(request: HttpRequest, body: Known) -> HttpResponse:
    """Of all sessions what came after what a client knows; of one that it does not name everything."""
    known = body.root
    ids = await in_db(sync.session_ids)  # one after the other: others want the database meanwhile
    return wire([event for id in ids for event in await in_db(sync.history, id, known.get(id, -1))])


@router.post("/replay", operation_id="sync.replay")
@answers(OfSession)
async def replay(request: HttpRequest, body: Replay) -> HttpResponse:
    """Take in a session by its whole history. One that is here stays as it is."""
    session_id = body.events[0].aggregate_id
    try:
        info, entries = _made_of(session_id, body)
        if not await in_db(importing.known, [session_id]):
            await in_db(importing.put, info, entries, [])
    except (Unfit, NotTaken, ValidationError) as error:
        message = str(error) if not isinstance(error, ValidationError) else _first(error)
        return wire({"_tag": "InvalidRequestError", "message": message, "kind": "Payload"}, 400)
    return wire({"sessionID": session_id})


class Unfit(ValueError):
    """The events are no whole history of one session; the text says why."""


def _made_of(session_id: str, body: Replay) -> tuple[Json, list[Json]]:
    """The session and its entries after all events, in their order. Raises Unfit, ValidationError."""
    events = body.events
    if [event.seq for event in events] != sorted({event.seq for event in events}):
        raise Unfit("events: their seq does not rise")
    info: Json = {}
    messages: dict[str, Json] = {}
    parts: dict[str, Json] = {}
    for event in events:
        if event.aggregate_id != session_id or event.data.get("sessionID") != session_id:
            raise Unfit("events: they are not all of one session")
        data = event.data
        match event.type.rpartition(".")[0]:
            case "session.created" | "session.updated":
                info = SessionInfo.model_validate(data.get("info")).wire()
            case "message.updated":
                message = MESSAGE.validate_python(data.get("info"))
                messages[message.id] = message.wire()
            case "message.removed":
                messages.pop(str(data.get("messageID")), None)
            case "message.part.updated":
                part = PART.validate_python(data.get("part"))
                parts[part.id] = part.wire()
            case "message.part.removed":
                parts.pop(str(data.get("partID")), None)
    ids = {info.get("id"), *(one["sessionID"] for one in (*messages.values(), *parts.values()))}
    if ids != {session_id}:
        raise Unfit("events: they do not begin with their session, or name another one")
    return {**info, "directory": body.directory}, [
        {"info": message, "parts": [part for part in parts.values() if part["messageID"] == id]}
        for id, message in messages.items()
    ]


def _first(error: ValidationError) -> str:
    wrong = error.errors()[0]
    return f"events: {'.'.join(map(str, wrong['loc']))}: {wrong['msg']}"

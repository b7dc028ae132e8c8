"""`/experimental/session`: the sessions of all projects."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router

from sessions.api.base import known, wire
from sessions.api.conversations import Flag
from sessions.api.described import answers
from sessions.core.db import in_db
from sessions.core.models import Project
from sessions.core.store import lists
from sessions.core.wire import ours
from sessions.core.wire.base import Amount, Moment, Wire
from sessions.core.wire.session import GlobalSession

router = Router()


class Listing(Wire):
    """The query; `cursor` is the time of the last use that the page before ended with."""

    directory: str = ""
    roots: Flag = "false"
    start: Moment | None = None
    cursor: Moment | None = None
    search: str = ""
    limit: Amount = 100
    archived: Flag = "false"


@router.get("/session", operation_id="experimental.session.list")
@answers(list[GlobalSession])
async def list_sessions(request: HttpRequest, query: Query[Listing]) -> HttpResponse:
    """The last used first; `X-Next-Cursor` is there when others follow."""
    found = await in_db(_listing, query)
    shown = found[: query.limit]
    response = wire(shown if ours.asked(request) else [ours.session(info) for info in shown])
    if len(found) > query.limit > 0:
        response["X-Next-Cursor"] = str(found[query.limit - 1]["time"]["updated"])
        response["Access-Control-Expose-Headers"] = "X-Next-Cursor"
    return response


def _listing(query: Listing) -> list[dict[str, Any]]:
    """One more than wanted, when there is one."""
    rows = lists.matching(
        search=query.search,
        roots=query.roots == "true",
        archived=query.archived == "true",
        directory=query.directory,
        start=None if query.start is None else int(query.start),
        before=None if query.cursor is None else int(query.cursor),
    )
    found = lists.wires(rows[: query.limit + 1])
    known = Project.objects.filter(id__in={session["projectID"] for session in found})
    projects = {row.id: _summary(row) for row in known}
    return [{**session, "project": projects[session["projectID"]]} for session in found]


def _summary(row: Project) -> dict[str, Any]:
    return {"id": row.id, "worktree": row.worktree} | ({"name": row.name} if row.name else {})


@router.post("/session/{session_id}/background", operation_id="experimental.session.background")
@answers(bool, errors=(404,))
async def background(request: HttpRequest, session_id: str) -> HttpResponse:
    """Whether a call that blocks was sent to the background: never, a call waits for its result."""
    await known(session_id)
    return wire(False)

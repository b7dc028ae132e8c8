"""What the operations under `/api` share: where a request is about, and errors with a `_tag`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError

from sessions.api.base import NotFound, NotOpened, directory_of, reason, wire
from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.store import projects
from sessions.core.store import sessions as session_store

LONGEST_ID = 200


class Tagged(Exception):
    """An error of the second protocol: `{"_tag", "message", …}` with its status."""

    def __init__(self, status: int, tag: str, message: str, **fields: Any) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"_tag": tag, **fields, "message": message}


class InvalidRequest(Tagged):
    """400; `field` names what was wrong."""

    def __init__(self, message: str, field: str = "", kind: str = "Payload") -> None:
        more = {"field": field} if field else {}
        super().__init__(400, "InvalidRequestError", message, kind=kind, **more)


async def session_of(session_id: str) -> Session:
    """Raises InvalidRequest for what can be no id, Tagged (404)."""
    checked(session_id, "ses", "sessionID")
    row = await in_db(session_store.get, session_id)
    if row is None:
        text = f"Session not found: {session_id}"
        raise Tagged(404, "SessionNotFoundError", text, sessionID=session_id)
    return row


def checked(id: str, prefix: str, field: str) -> str:
    """An id from the path. Raises InvalidRequest for one that can be none."""
    if not id.startswith(prefix) or not id.isprintable() or len(id) > LONGEST_ID:
        raise InvalidRequest(f"{field}: expected an id that begins with {prefix!r}", field, "Params")
    return id


async def location_of(request: HttpRequest) -> dict[str, Any]:
    """The LocationInfo of a request's folder. Raises NotFound."""
    directory = directory_of(request)
    return await in_db(_location, directory)


def _location(directory: Path) -> dict[str, Any]:
    project = projects.project_of(directory)
    return {
        "directory": str(directory),
        "project": {"id": project.id, "directory": project.worktree},
    }


async def located(request: HttpRequest, data: Any) -> HttpResponse:
    """`{"location", "data"}`, as everything that depends on a folder is answered."""
    return wire({"location": await location_of(request), "data": data})


def add_error_shapes(api: NinjaAPI) -> None:
    """Every error as `{"_tag", "message"}`, never a stack trace."""

    @api.exception_handler(Tagged)
    def tagged(_: HttpRequest, error: Tagged) -> HttpResponse:
        return wire(error.body, error.status)

    @api.exception_handler(NotFound)
    def not_found(_: HttpRequest, error: NotFound) -> HttpResponse:
        """A folder that is no project: the second protocol has no 404 for it."""
        return wire({"_tag": "InvalidRequestError", "message": str(error), "kind": "Query"}, 400)

    @api.exception_handler(NotOpened)
    def not_opened(_: HttpRequest, error: NotOpened) -> HttpResponse:
        return wire({"_tag": "ForbiddenError", "message": str(error)}, 403)

    @api.exception_handler(ValidationError)
    def invalid(_: HttpRequest, error: ValidationError) -> HttpResponse:
        first = error.errors[0]
        field = ".".join(str(step) for step in first["loc"][2:] or first["loc"][-1:])
        kind = "Query" if first["loc"][0] == "query" else "Payload"
        told = "; ".join(f"{item['loc'][-1]}: {item['msg']}" for item in error.errors)
        return wire({"_tag": "InvalidRequestError", "message": told, "kind": kind, "field": field}, 400)

    @api.exception_handler(HttpError)
    def http_error(_: HttpRequest, error: HttpError) -> HttpResponse:
        return wire({"_tag": "InvalidRequestError", "message": reason(error)}, error.status_code)

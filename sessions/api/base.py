"""What every operation shares: the folder a request is about, JSON as it stands, OpenCode's error shapes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError

from sessions.db import in_db
from sessions.models import Project, Session
from sessions.store import projects
from sessions.store import sessions as session_store


class NotFound(Exception):
    """404 in OpenCode's shape; the text says what was not found."""


class Refused(Exception):
    """A request that cannot be carried out now, e.g. an undo while a turn runs: 409 with the reason."""


def wire(data: Any, status: int = 200) -> HttpResponse:
    """A JSON response of what is on the wire already: no second validation of rows."""
    body = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return HttpResponse(body, status=status, content_type="application/json")


def directory_of(request: HttpRequest) -> Path:
    """The folder by `?directory=` (`?location[directory]=` in the second protocol), the
    `x-opencode-directory` header, or where the server was started.

    Raises NotFound when it is no folder, or the whole file system, which is no project.
    """
    query = request.GET.get("directory") or request.GET.get("location[directory]")
    given = query or unquote(request.headers.get("x-opencode-directory", ""))
    directory = Path(given or settings.OPENED_DIRECTORY or Path.cwd())
    if not directory.is_absolute() or not directory.is_dir() or directory.resolve() == Path("/"):
        raise NotFound(f"There is no project in {str(directory)!r}.")
    return directory


async def project_of(request: HttpRequest) -> Project:
    """The project of the request's folder. Raises NotFound."""
    directory = directory_of(request)
    try:
        return await in_db(projects.project_of, directory)
    except OSError as error:
        raise NotFound(f"{directory} cannot be opened: {error.strerror}") from error


async def session_of(session_id: str) -> Session:
    """Raises NotFound."""
    row = await in_db(session_store.get, session_id)
    if row is None:
        raise NotFound(f"Session not found: {session_id}")
    return row


def add_error_shapes(api: NinjaAPI) -> None:
    """Every error as `{"name", "data": {"message"}}`, never a stack trace."""

    @api.exception_handler(NotFound)
    def not_found(_: HttpRequest, error: NotFound) -> HttpResponse:
        return _error(404, "NotFoundError", str(error))

    @api.exception_handler(Refused)
    def refused(_: HttpRequest, error: Refused) -> HttpResponse:
        return _error(409, "SessionBusyError", str(error))

    @api.exception_handler(ValidationError)
    def invalid(_: HttpRequest, error: ValidationError) -> HttpResponse:
        wrong = "; ".join(f"{_field(item['loc'])}: {item['msg']}" for item in error.errors)
        kind = "Query" if error.errors and error.errors[0]["loc"][0] == "query" else "Payload"
        return _error(400, "BadRequest", wrong, kind=kind)

    @api.exception_handler(HttpError)
    def http_error(_: HttpRequest, error: HttpError) -> HttpResponse:
        return _error(error.status_code, "BadRequest", error.message, kind="Payload")


def _field(location: tuple[Any, ...]) -> str:
    """Without where ninja found it (`body`, the parameter's name) in front."""
    return ".".join(str(step) for step in location[2:] or location[-1:])


def _error(status: int, name: str, message: str, **more: str) -> HttpResponse:
    return wire({"name": name, "data": {"message": message, **more}}, status)

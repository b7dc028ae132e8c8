"""What every operation shares: the folder a request is about, JSON as it stands, OpenCode's error shapes."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError
from ninja.parser import Parser

from sessions.core import opened
from sessions.core.db import in_db
from sessions.core.models import Project, Session
from sessions.core.paths import normalized
from sessions.core.store import projects
from sessions.core.store import sessions as session_store
from sessions.core.wire import ours
from sessions.core.wire.base import tight

LONGEST_PATH = 4096
"""Linux has no longer ones."""


class StrictParser(Parser):
    """Bodies for ninja, which answers 400 for what is raised here."""

    def parse_body(self, request: HttpRequest) -> Any:
        return parsed(request.body)


class NotFound(Exception):
    """404 in OpenCode's shape; the text says what was not found."""


class NotOpened(NotFound):
    """403: a folder that a person has to open first; the text says how."""


class Busy(Exception):
    """What a session cannot do now, e.g. undo while a turn runs: 409 with the reason."""

    def __init__(self, session_id: str, reason: str = "") -> None:
        super().__init__(reason or f"Session is busy: {session_id}")
        self.session_id = session_id


def wire(data: Any, status: int = 200) -> HttpResponse:
    """A JSON response of what is on the wire already: no second validation of rows."""
    return json_answer(tight(data), status)


def json_answer(text: str, status: int = 200) -> HttpResponse:
    """A response of JSON that was encoded already."""
    return HttpResponse(text.encode("utf-8", "replace"), status=status, content_type="application/json")


def session_answer(request: HttpRequest, info: dict[str, Any]) -> HttpResponse:
    """A session, with what is ours for who asks for it."""
    return wire(info if ours.asked(request) else ours.session(info))


def directory_of(request: HttpRequest, named: str = "", *, browsed: bool = False) -> Path:
    """The folder that a body names, or by `?directory=` (`?location[directory]=` in the second protocol), the
    `x-opencode-directory` header, or where the server was started.

    Raises NotFound when it is no folder that can be read, or the whole file system, which is no project, and
    NotOpened when it takes a person's word. What holds homes is `browsed`, by a client that lets a person
    choose a folder.
    """
    query = request.GET.get("directory") or request.GET.get("location[directory]")
    given = named or query or unquote(request.headers.get("x-opencode-directory", ""))
    directory = Path(normalized(given)) if given else _started()
    if not _is_folder(directory):
        raise NotFound(f"There is no project in {str(directory)[:LONGEST_PATH]!r}.")
    if browsed and opened.holds_home(directory):
        return directory
    if directory.resolve() == Path("/"):
        raise NotFound(f"There is no project in {str(directory)[:LONGEST_PATH]!r}.")
    refuse_unopened(directory)
    return directory


def refuse_unopened(directory: Path) -> None:
    """Raises NotOpened for a folder that a client may not open without a person's word."""
    started = _started()
    if directory == started or directory.resolve() == started.resolve():
        return
    if not opened.may_open(directory):
        raise NotOpened(
            f"{directory} is not opened for a client that asks. {opened.caution(directory)} Open it in the "
            f"page, under “Open a project”, or start `opencode-web {directory}`."
        )


def _started() -> Path:
    """Where the server was started, or the folder that it was started for."""
    return Path(settings.OPENED_DIRECTORY or Path.cwd())


def _is_folder(path: Path) -> bool:
    """False also for one that may not be read, a name that is too long, a link that leads to itself."""
    try:
        return path.is_absolute() and path.is_dir() and os.access(path, os.R_OK | os.X_OK)
    except OSError:
        return False


async def project_of(request: HttpRequest) -> Project:
    """The project of the request's folder; a GET does not open one, it may get a row that is not saved.

    Raises NotFound.
    """
    return await in_db(project_in, directory_of(request), look=request.method == "GET")


def project_in(directory: Path, *, look: bool) -> Project:
    """The same on the ORM's thread, for what goes on there with it. Raises NotFound."""
    try:
        return projects.project_of(directory, look=look)
    except OSError as error:
        raise NotFound(f"{directory} cannot be opened: {error.strerror}") from error


async def session_of(session_id: str) -> Session:
    """Raises NotFound."""
    return await in_db(session_in, session_id)


async def known(session_id: str) -> None:
    """Of a session that nothing else has to be known of. Raises NotFound where there is none."""
    await in_db(known_in, session_id)


def known_in(session_id: str) -> None:
    """The same on the ORM's thread."""
    if not (session_id.isprintable() and session_store.exists(session_id)):
        raise NotFound(f"Session not found: {session_id}")


def session_in(session_id: str) -> Session:
    """The same on the ORM's thread. Raises NotFound."""
    row = session_store.get(session_id) if session_id.isprintable() else None
    if row is None:
        raise NotFound(f"Session not found: {session_id}")
    return row


def add_error_shapes(api: NinjaAPI) -> None:
    """Every error as `{"name", "data": {"message"}}`, never a stack trace."""

    @api.exception_handler(NotFound)
    def not_found(_: HttpRequest, error: NotFound) -> HttpResponse:
        return _error(404, "NotFoundError", str(error))

    @api.exception_handler(NotOpened)
    def not_opened(_: HttpRequest, error: NotOpened) -> HttpResponse:
        return _error(403, "ForbiddenError", str(error))

    @api.exception_handler(FileNotFoundError)
    def gone(request: HttpRequest, error: FileNotFoundError) -> HttpResponse:
        """The folder of the request went while it was answered; all else is a fault of ours."""
        try:
            directory_of(request)
        except NotFound as missing:
            return not_found(request, missing)
        raise error

    @api.exception_handler(Busy)
    def busy(_: HttpRequest, error: Busy) -> HttpResponse:
        body = {"_tag": "SessionBusyError", "sessionID": error.session_id, "message": str(error)}
        return wire(body, 409)

    @api.exception_handler(ValidationError)
    def invalid(_: HttpRequest, error: ValidationError) -> HttpResponse:
        wrong = "; ".join(f"{_field(item['loc'])}: {item['msg']}" for item in error.errors)
        kind = "Query" if error.errors and error.errors[0]["loc"][0] == "query" else "Payload"
        return _error(400, "BadRequest", wrong, kind=kind)

    @api.exception_handler(HttpError)
    def http_error(_: HttpRequest, error: HttpError) -> HttpResponse:
        return _error(error.status_code, "BadRequest", reason(error), kind="Payload")


def reason(error: HttpError) -> str:
    """What to tell of it: ninja's own does not say what is wrong with a body."""
    return str(error.__cause__) if isinstance(error.__cause__, BadBody) else error.message


def _field(location: tuple[Any, ...]) -> str:
    """Without where ninja found it (`body`, the parameter's name) in front."""
    return ".".join(str(step) for step in location[2:] or location[-1:])


def _error(status: int, name: str, message: str, **more: str) -> HttpResponse:
    return wire({"name": name, "data": {"message": message, **more}}, status)


# JSON of a request: what RFC 8259 allows, and of that what can be kept and sent again.

DEEPEST = 200
"""Lists and objects within each other; Python's `json` fails at about 1000, writing earlier than reading."""
MOST = 50_000
"""Values, keys among them: a million take a second, in which nobody else is answered."""
_LARGEST = 2**63 - 1
"""What the database takes."""
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")


_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[,\[{]', re.DOTALL)


class BadBody(ValueError):
    """The text says why a body is not taken."""


def parsed(body: bytes) -> Any:
    """Raises BadBody: for what is no JSON in UTF-8, for numbers that are too large, for NaN and Infinity
    (Python would write them as they are, and no client could read the answer), for half a character (a lone
    surrogate, which no database and no model takes), and for what has too many values or is nested too deep.
    """
    if _is_more_than(body, MOST):
        raise BadBody(f"The body has more than {MOST:,} values")
    try:
        data = json.loads(body.decode(), parse_int=_integer, parse_float=_number, parse_constant=_number)
        if body.count(b"[") + body.count(b"{") > DEEPEST and _is_deep(data):
            raise BadBody(f"The body is nested more than {DEEPEST} levels deep")
        if _HALF.search(body):
            json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise BadBody("The body has half a character in it (a lone surrogate)") from error
    except UnicodeDecodeError as error:
        raise BadBody(f"The body is not UTF-8 at byte {error.start}") from error
    except json.JSONDecodeError as error:
        raise BadBody(f"The body is not JSON: {error}") from error
    except RecursionError as error:
        raise BadBody(f"The body is nested more than {DEEPEST} levels deep") from error
    return data


def _is_more_than(body: bytes, most: int) -> bool:
    """Whether it has more values than so many, looking no further: a long text with commas is one."""
    if sum(body.count(mark) for mark in (b",", b"[", b"{")) <= most:
        return False
    return next(islice(_TOKEN.finditer(body), 2 * most, None), None) is not None


def _integer(text: str) -> int:
    if len(text) > 20 or abs(int(text)) > _LARGEST:
        raise BadBody(f"The number {text[:20]}… is too large")
    return int(text)


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise BadBody(f"{text[:20]} is no number that JSON has")
    return value


def _is_deep(data: Any) -> bool:
    level = [data]
    for _ in range(DEEPEST):
        level = [inner for outer in level for inner in _inner(outer)]
        if not level:
            return False
    return True


def _inner(data: Any) -> Iterator[Any]:
    """The lists and objects directly in one."""
    values = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    return (value for value in values if isinstance(value, (dict, list)))

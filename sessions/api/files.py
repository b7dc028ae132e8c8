"""`/path`, `/find`, `/find/file`, `/file`, `/file/content`: the project's files, inside the project only."""

from __future__ import annotations

import asyncio
import base64
import mimetypes
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from ninja import Router
from ninja.errors import HttpError
from pydantic import Field

from sessions.api.base import NotFound, directory_of, project_of, refuse_unopened, wire
from sessions.api.described import answers
from sessions.core import opened
from sessions.core.wire.files import FileContent, FileNode, Kind, TextMatch
from sessions.core.wire.project import Places
from sessions.project import browsing, search

router = Router()

Limit = Annotated[int, Field(ge=1, le=200)]
Read = TypeVar("Read")


@router.get("/path", operation_id="path.get")
@answers(Places)
async def places(request: HttpRequest) -> HttpResponse:
    project = await project_of(request)
    found = {
        "home": Path.home(),
        "state": settings.DATA_DIR,
        "config": settings.CONFIG_DIRS[0],
        "worktree": project.worktree,
        "directory": directory_of(request),
    }
    return wire({name: str(path) for name, path in found.items()})


@router.get("/find", operation_id="find.text")
@answers(list[TextMatch])
async def find_text(request: HttpRequest, pattern: str) -> HttpResponse:
    try:
        return wire(await search.find_text(directory_of(request), pattern))
    except (search.SearchFailed, ValueError) as error:  # ValueError: a NUL byte in the pattern
        raise HttpError(400, f"pattern: {error}") from error


@router.get("/find/file", operation_id="find.files")
@answers(list[str])
async def find_file(
    request: HttpRequest,
    query: str,
    dirs: Literal["true", "false"] = "true",
    type: Kind | None = None,
    limit: Limit = 10,
) -> HttpResponse:
    """`dirs=false` leaves folders out; `type` asks for one kind alone and counts before `dirs`."""
    files, folders = type != "directory", type == "directory" or (type is None and dirs == "true")
    directory = directory_of(request, browsed=folders and not files)
    if directory.resolve() == Path("/"):
        raise NotFound("The whole file system is not searched.")
    try:
        return wire(await search.find_files(directory, query, limit=limit, files=files, folders=folders))
    except search.SearchFailed as error:
        raise HttpError(400, f"query: {error}") from error


@router.get("/file", operation_id="file.list")
@answers(list[FileNode], errors=(403, 404))
async def list_files(request: HttpRequest, path: str) -> HttpResponse:
    directory = directory_of(request, browsed=True)
    if opened.holds_home(directory):
        await asyncio.to_thread(_refuse_unopened, directory, path)
    return wire(await _read(nodes_wire, directory, path))


@router.get("/file/content", operation_id="file.read")
@answers(FileContent, errors=(403, 404, 413))
async def content(request: HttpRequest, path: str) -> HttpResponse:
    directory = directory_of(request)
    return wire(await _read(content_wire, directory, path))


def _refuse_unopened(directory: Path, path: str) -> None:
    """Of what is below a home, or above it. Raises NotOpened."""
    with suppress(browsing.Unreadable):  # the reading will say so
        folder = browsing.inside(directory, path)
        if not opened.holds_home(folder):
            refuse_unopened(folder)


async def _read(function: Callable[[Path, str], Read], directory: Path, path: str) -> Read:
    try:
        return await asyncio.to_thread(function, directory, path)
    except browsing.Missing as error:
        raise NotFound(str(error)) from error
    except browsing.Unreadable as error:
        statuses = {browsing.Outside: 403, browsing.TooLarge: 413}
        raise HttpError(statuses.get(type(error), 400), f"path: {error}") from error


def nodes_wire(directory: Path, path: str) -> list[dict[str, Any]]:
    found = browsing.entries(directory, path)
    ignored = search.ignored(directory, [entry.path for entry in found])
    return [
        {
            "name": entry.name,
            "path": entry.relative,
            "absolute": entry.absolute,
            "type": entry.kind,
            "ignored": entry.path in ignored,
        }
        for entry in found
    ]


def content_wire(directory: Path, path: str) -> dict[str, Any]:
    data = browsing.content(directory, path)
    try:
        if b"\0" not in data[:8000]:
            return {"type": "text", "content": data.decode()}
    except UnicodeDecodeError:
        pass
    mime = mimetypes.guess_type(path)[0] or "application/octet-stream"
    encoded = base64.b64encode(data).decode()
    return {"type": "binary", "content": encoded, "encoding": "base64", "mimeType": mime}

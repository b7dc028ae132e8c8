"""`/api/health`, `/api/location`, `/api/fs`, `/api/reference`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from django.http import HttpRequest, HttpResponse
from ninja import Router
from pydantic import Field

from sessions.api.base import directory_of, wire
from sessions.api.described import answers
from sessions.core.wire.base import Wire
from sessions.core.wire.files import FileEntry, Kind
from sessions.core.wire.v2.base import Located, LocationInfo
from sessions.project import browsing, search

from .base import InvalidRequest, located, location_of

router = Router()

MOST_FOUND = 200
Limit = Annotated[int, Field(gt=0)]
Read = TypeVar("Read")


class Health(Wire):
    healthy: Literal[True] = True


@router.get("/health", operation_id="v2.health.get")
@answers(Health)
async def health(request: HttpRequest) -> HttpResponse:
    return wire({"healthy": True})


@router.get("/location", operation_id="v2.location.get")
@answers(LocationInfo)
async def location(request: HttpRequest) -> HttpResponse:
    return wire(await location_of(request))


@router.get("/fs/list", operation_id="v2.fs.list")
@answers(Located[list[FileEntry]])
async def list_files(request: HttpRequest, path: str = "") -> HttpResponse:
    found = await _read(browsing.entries, directory_of(request), path)
    return await located(request, [{"path": entry.relative, "type": entry.kind} for entry in found])


@router.get("/fs/find", operation_id="v2.fs.find")
@answers(Located[list[FileEntry]])
async def find_files(
    request: HttpRequest, query: str, type: Kind | None = None, limit: Limit = MOST_FOUND
) -> HttpResponse:
    """At most 200, whatever the limit is."""
    directory = directory_of(request)
    files, folders = type != "directory", type != "file"
    try:
        found = await search.find_files(
            directory, query, limit=min(limit, MOST_FOUND), files=files, folders=folders
        )
    except search.SearchFailed as error:
        raise InvalidRequest(f"query: {error}", "query", "Query") from error
    kinds = ("file", "directory")
    return await located(request, [{"path": path, "type": kinds[path.endswith("/")]} for path in found])


@router.get("/fs/read/{path:path}", operation_id="v2.fs.read")
@answers(str, media="application/octet-stream")
async def read_file(request: HttpRequest, path: str) -> HttpResponse:
    """Never as what a browser would show: a file of the project may hold anything."""
    data = await _read(browsing.content, directory_of(request), path)
    return HttpResponse(data, content_type="application/octet-stream")


@router.get("/reference", operation_id="v2.reference.list")
@answers(Located[list[Any]])
async def references(request: HttpRequest) -> HttpResponse:
    """None: other repositories are not fetched for a project."""
    return await located(request, [])


async def _read(function: Callable[[Path, str], Read], directory: Path, path: str) -> Read:
    try:
        return await asyncio.to_thread(function, directory, path)
    except browsing.Unreadable as error:
        raise InvalidRequest(f"path: {error}", "path", "Query") from error

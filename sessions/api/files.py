"""`/find`, `/find/file`, `/file`, `/file/content`: the project's files, inside the project only."""

from __future__ import annotations

import asyncio
import base64
import mimetypes
from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Router
from ninja.errors import HttpError

from sessions import search
from sessions.api.base import NotFound, directory_of, wire

router = Router()

MAX_CONTENT = 10 * 1024 * 1024


@router.get("/find")
async def find_text(request: HttpRequest, pattern: str) -> HttpResponse:
    try:
        return wire(await search.find_text(directory_of(request), pattern))
    except search.SearchFailed as error:
        raise HttpError(400, f"pattern: {error}") from error


@router.get("/find/file")
async def find_file(request: HttpRequest, query: str, dirs: str = "false", limit: int = 10) -> HttpResponse:
    folders = dirs == "true"
    count = max(1, min(limit, 200))
    try:
        return wire(await search.find_files(directory_of(request), query, limit=count, folders=folders))
    except search.SearchFailed as error:
        raise HttpError(400, f"query: {error}") from error


@router.get("/file")
async def list_files(request: HttpRequest, path: str) -> HttpResponse:
    directory = directory_of(request)
    return wire(await asyncio.to_thread(_nodes, directory, _inside(directory, path)))


@router.get("/file/content")
async def content(request: HttpRequest, path: str) -> HttpResponse:
    directory = directory_of(request)
    return wire(await asyncio.to_thread(_content, _inside(directory, path), path))


def _inside(directory: Path, path: str) -> Path:
    """The real path; HttpError 403 when it leads out of the folder, by `..` or a symbolic link."""
    root = directory.resolve()
    try:
        found = (root / path).resolve()
        found.exists()  # fails here for a name that the system cannot hold
    except (OSError, ValueError, RuntimeError) as error:
        raise HttpError(400, f"path: {error}") from error
    if not found.is_relative_to(root):
        raise HttpError(403, f"path: {path!r} is outside of the project")
    return found


def _nodes(directory: Path, folder: Path) -> list[dict[str, Any]]:
    if not folder.is_dir():
        raise NotFound(f"There is no folder {folder.name!r}.")
    entries = sorted(folder.iterdir(), key=lambda entry: (not entry.is_dir(), entry.name))
    ignored = search.ignored(directory, entries)
    return [
        {
            "name": entry.name,
            "path": str(entry.relative_to(directory.resolve())),
            "absolute": str(entry),
            "type": "directory" if entry.is_dir() else "file",
            "ignored": entry in ignored,
        }
        for entry in entries
        if entry.name != ".git"
    ]


def _content(found: Path, path: str) -> dict[str, Any]:
    if not found.is_file():  # reading a pipe or a device would never end
        raise NotFound(f"There is no file {path!r}.")
    try:
        if found.stat().st_size > MAX_CONTENT:
            raise HttpError(413, f"path: {path!r} is larger than {MAX_CONTENT // 1024 // 1024} MB")
        data = found.read_bytes()
    except OSError as error:
        raise NotFound(f"{path!r} cannot be read: {error.strerror}") from error
    try:
        if b"\0" not in data[:8000]:
            return {"type": "text", "content": data.decode()}
    except UnicodeDecodeError:
        pass
    mime = mimetypes.guess_type(found.name)[0] or "application/octet-stream"
    encoded = base64.b64encode(data).decode()
    return {"type": "binary", "content": encoded, "encoding": "base64", "mimeType": mime}

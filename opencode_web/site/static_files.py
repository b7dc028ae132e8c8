"""`/static/` and the icon as an ASGI application: WhiteNoise beside Django, at no cost to pages and API.

Not through asgiref's WSGI adapter: it leaves its thread executor in the context in which daphne starts
the connection's next request, which then fails with "CurrentThreadExecutor already quit".

Pages name files as `/static/<version>/css/base.css`, where the version is a digest of all of them, so that a
browser keeps them as long as they are the same; `joined/` in it are files made of several (joining.py).
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
from collections.abc import Callable
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

import brotli
import django_htmx
from django.conf import settings
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.utils.text import compress_string
from whitenoise import WhiteNoise
from whitenoise.responders import Response

from opencode_web.site.joining import Unjoinable, join
from opencode_web.site.security.asgi import Headers, Receive, Scope, Send
from opencode_web.site.security.guard import FAVICON


def accepts(header: str, coding: str) -> bool:
    """Whether an `Accept-Encoding` header names a coding, and not with a weight of 0 (RFC 9110, 12.5.3)."""
    return bool(re.search(rf"\b{coding}\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))", header))


_VERSIONED = re.compile(r"/static/(?P<version>[0-9a-f]{16})/(?P<name>(?:joined/(?P<joined>.+))?.*)")
_WORKER = "/static/js/worker.js"
"""A service worker, whose pages are not below its own folder."""
_TYPES = {"css": b"text/css; charset=utf-8", "js": b"text/javascript; charset=utf-8"}
_PACKED = (b"text/", b"image/svg+xml", b"application/json")
_FOR_GOOD = b"public, max-age=31536000, immutable"
_CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "br": lambda body: brotli.compress(body, quality=9 if len(body) > _LARGE else 10),
    "gzip": compress_string,
}
"""The smaller first; browsers take Brotli over TLS and on this machine. Level 11 takes thrice the time, and
10 eight times that of 9, for the fourteenth part of the bytes."""
_LARGE = 256 * 1024
"""No page begins with so much, and whoever opens something waits."""
_NOT_FOUND = (404, [(b"content-type", b"text/plain")], b"Not found")

Answer = tuple[int, Headers, bytes]


class Storage(StaticFilesStorage):
    """What `{% static %}` says; with DEBUG the sources as they lie there."""

    def url(self, name: str | None) -> str:
        return (
            f"{settings.STATIC_URL}{name}" if settings.DEBUG else f"{settings.STATIC_URL}{version()}/{name}"
        )


def _folders() -> list[Path]:
    return [*map(Path, settings.STATICFILES_DIRS), Path(django_htmx.__file__).parent / "static"]


@cache
def version() -> str:
    """Of all files together, computed for the first page."""
    digest = hashlib.sha256()
    for root in _folders():
        for folder, folders, names in os.walk(root):
            folders.sort()
            for name in sorted(names):
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    content = file.read()
                digest.update(f"{path[len(str(root)) :]}\0{len(content)}\0".encode())
                digest.update(content)
    return digest.hexdigest()[:16]


class StaticFiles:
    """Answers GET and HEAD for our own files and htmx from django-htmx; a minute's cache, no CORS."""

    @cached_property
    def _files(self) -> WhiteNoise:
        """Looked up for the first that is asked for, in its thread: a page need not wait for it."""
        types = {".webmanifest": "application/manifest+json"}
        files = WhiteNoise(None, max_age=60, allow_all_origins=False, mimetypes=types)
        for folder in _folders():
            files.add_files(str(folder), prefix="static/")
        files.files[FAVICON] = files.files["/static/favicon.ico"]
        return files

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        status, headers, body = await asyncio.to_thread(self._answer, scope)
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _answer(self, scope: Scope) -> Answer:
        found = _VERSIONED.fullmatch(scope["path"])
        if found is None:
            return self._file(scope["path"], scope)
        status, headers, body = (
            _answer_joined(found["joined"], scope)
            if found["joined"]
            else self._file(f"/static/{found['name']}", scope)
        )
        if status in (200, 304):
            # A page of another version, open since before an update, gets what there is now.
            caching = _FOR_GOOD if found["version"] == version() else b"no-cache"
            headers = [pair for pair in headers if pair[0] != b"cache-control"] + [
                (b"cache-control", caching)
            ]
        return status, headers, body

    def _file(self, path: str, scope: Scope) -> Answer:
        file = self._files.files.get(path)
        if file is None:
            return _NOT_FOUND
        response = file.get_response(scope["method"], _environ(scope))
        headers = [(name.lower().encode(), value.encode()) for name, value in response.headers]
        if path == _WORKER:
            headers.append((b"service-worker-allowed", f"{settings.BASE_PATH}/".encode()))
        return _compress(scope, int(response.status), headers, _content(response))


def _answer_joined(file: str, scope: Scope) -> Answer:
    if scope["method"] not in ("GET", "HEAD"):
        return 405, [(b"allow", b"GET, HEAD")], b""
    try:
        body = _join(file)
    except Unjoinable:
        return _NOT_FOUND
    headers: Headers = [(b"content-type", _TYPES[file.rpartition(".")[2]])]
    return _compress(scope, 200, headers, body if scope["method"] == "GET" else b"")


@lru_cache(maxsize=64)
def _join(file: str) -> bytes:
    return join(Path(settings.STATICFILES_DIRS[0]), file).encode()


def _compress(scope: Scope, status: int, headers: Headers, body: bytes) -> Answer:
    """Compressed where that helps and the browser takes it."""
    if status != 200 or not dict(headers).get(b"content-type", b"").startswith(_PACKED):
        return status, headers, body
    headers = [*headers, (b"vary", b"Accept-Encoding")]
    asked = ",".join(
        value.decode("latin-1") for name, value in scope["headers"] if name == b"accept-encoding"
    )
    coding = next((coding for coding in _CODINGS if accepts(asked, coding)), None)
    if not body or coding is None:
        return status, headers, body
    # A strong ETag names the bytes that are sent, and these are others; Last-Modified serves as well.
    headers = [pair for pair in headers if pair[0] not in (b"content-length", b"etag")]
    body = _pack(body, coding)
    length = (b"content-length", str(len(body)).encode())
    return status, [*headers, (b"content-encoding", coding.encode()), length], body


@lru_cache(maxsize=128)
def _pack(body: bytes, coding: str) -> bytes:
    return _CODINGS[coding](body)


def _environ(scope: Scope) -> dict[str, Any]:
    """The request's headers as WhiteNoise reads them."""
    return {
        f"HTTP_{name.decode('latin-1').upper().replace('-', '_')}": value.decode("latin-1")
        for name, value in scope["headers"]
    }


def _content(response: Response) -> bytes:
    if response.file is None:
        return b""
    with response.file as file:
        return bytes(file.read())

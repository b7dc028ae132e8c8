"""`/static/` as an ASGI application: WhiteNoise's files beside Django, at no cost to pages and API.

Not through asgiref's WSGI adapter: it leaves its thread executor in the context in which daphne starts
the connection's next request, which then fails with "CurrentThreadExecutor already quit".
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import django_htmx
from django.conf import settings
from whitenoise import WhiteNoise
from whitenoise.responders import Response

from opencode_web.security.asgi import Receive, Scope, Send

_NOT_FOUND = (404, [(b"content-type", b"text/plain")], b"Not found")


class StaticFiles:
    """Answers GET and HEAD for the files it was given."""

    def __init__(self, files: WhiteNoise) -> None:
        self._files = files

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        status, headers, body = await asyncio.to_thread(self._answer, scope)
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _answer(self, scope: Scope) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
        file = self._files.files.get(scope["path"])
        if file is None:
            return _NOT_FOUND
        response = file.get_response(scope["method"], _environ(scope))
        headers = [(name.lower().encode(), value.encode()) for name, value in response.headers]
        return int(response.status), headers, _content(response)


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


def application() -> StaticFiles:
    """Our own files and htmx from django-htmx; a minute's cache, no CORS."""
    files = WhiteNoise(None, max_age=60, allow_all_origins=False)
    for folder in (*settings.STATICFILES_DIRS, Path(django_htmx.__file__).parent / "static"):
        files.add_files(str(folder), prefix="static/")
    return StaticFiles(files)

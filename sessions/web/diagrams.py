"""The document in which diagrams are drawn, for a frame of ours: it has no origin and reaches nothing.

A large library (Mermaid) makes a drawing of what a model wrote. Whatever a text makes of it, it
finds no page, no login and no address; and the page takes nothing from there but a picture (diagrams.js).
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.safestring import mark_safe
from django.utils.translation import gettext
from django.views.decorators.http import require_GET

from sessions.rendering.html import html

_SCRIPTS = ("vendor/@mermaid-js/tiny/mermaid.tiny.js", "js/diagram-frame.js")
"""They stand in the document: without an origin it can ask for no file."""
_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src {}; style-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'"
)


@require_GET
async def frame(request: HttpRequest) -> HttpResponse:
    """Kept for good: pages ask for it under another `?for=` with each version of the scripts."""
    try:
        scripts = await asyncio.to_thread(_read)
    except FileNotFoundError as problem:
        raise Http404(gettext("%(filename)s was not fetched.") % {"filename": problem.filename}) from problem
    shown = [mark_safe(script) for script in scripts]  # noqa: S308 (our own files)
    response = HttpResponse(await asyncio.to_thread(html, "diagrams/frame.html", scripts=shown))
    response["Content-Security-Policy"] = _POLICY.format(" ".join(map(_source, scripts)))
    if not settings.DEBUG:
        response["Cache-Control"] = "private, max-age=31536000, immutable"
    return response


def _read() -> list[str]:
    folder = Path(settings.STATICFILES_DIRS[0])
    return [(folder / name).read_text("utf-8") for name in _SCRIPTS]


def _source(script: str) -> str:
    """The script by its hash (CSP 3)."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"

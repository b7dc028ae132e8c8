"""A transcript for others: the button in the head, the dialog that makes and revokes it, the page itself."""

from __future__ import annotations

import asyncio
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET, require_POST, require_safe

from sessions.core import sharing
from sessions.core.above import agents
from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.store import sharing as store
from sessions.core.store.rows import share_url
from sessions.rendering.html import html
from sessions.transfer.writing.document import Document, collect
from sessions.transfer.writing.redact import redacted
from sessions.transfer.writing.transcript import as_html, gone, policy
from sessions.web.access import session_of
from sessions.web.respond import fragment, refused


def share_button(session: Session, *, oob: bool = True) -> str:
    """Empty where sharing is disabled and nothing is shared."""
    shared, hidden = bool(session.share_token), not is_shareable(session)
    return html("sharing/button.html", shared=shared, hidden=hidden, base=session.get_absolute_url(), oob=oob)


def is_shareable(session: Session) -> bool:
    """Whether it is shared, or can be."""
    return bool(session.share_token) or agents().share_mode(session.directory) != "disabled"


AT_ONCE = asyncio.Semaphore(2)
"""Pages that are made at the same time: strangers ask for them."""

_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow, noarchive",
}


@require_safe
async def shared(request: HttpRequest, token: str) -> HttpResponse:
    """The transcript without secrets, as it stands now; 404 for an address that opens nothing any more."""
    session = await in_db(store.shared, token)
    if session is None or await asyncio.to_thread(agents().share_mode, session.directory) == "disabled":
        response = HttpResponse(gone(), status=404)
    else:
        async with AT_ONCE:
            document = await in_db(collect, session)
            content = await asyncio.to_thread(_content, document)
        response = HttpResponse(b"" if request.method == "HEAD" else content)
    response["Content-Security-Policy"] = (
        f"{policy()}; frame-ancestors 'none'; sandbox allow-popups allow-popups-to-escape-sandbox"
    )
    for name, value in _HEADERS.items():
        response[name] = value
    return response


def _content(document: Document) -> bytes:
    return as_html(redacted(document), redacted=True, shared=True).encode("utf-8", "replace")


@require_GET
async def dialog(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    session = await session_of(project_id, session_id)
    return fragment("sharing/dialog.html", **await _state(session))


@require_POST
async def share(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    try:
        session = await sharing.share(request, await session_of(project_id, session_id))
    except sharing.Disabled as problem:
        return refused(str(problem))
    return fragment("sharing/state.html", **await _state(session))


@require_POST
async def unshare(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    session = await sharing.unshare(await session_of(project_id, session_id))
    return fragment("sharing/state.html", **await _state(session))


async def _state(session: Session) -> dict[str, Any]:
    return {
        "session": session,
        "base": session.get_absolute_url(),
        "url": share_url(session) if session.share_token else "",
        "disabled": await asyncio.to_thread(agents().share_mode, session.directory) == "disabled",
    }

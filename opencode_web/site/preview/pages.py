"""The page around a preview: its ports, the frame, sizes, the console. It is itself in a frame of a session's
page, whose own policy cannot name a port that is not known yet."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from opencode_web.site.logins import logins
from opencode_web.site.preview.holder import Holder
from opencode_web.site.preview.previews import Found, NoPreview, previews
from opencode_web.site.security.cookies import BrowserSession
from opencode_web.site.security.headers import CONTENT_SECURITY_POLICY
from sessions.web.access import session_of
from sessions.web.respond import page, redirect, refused


@require_GET
async def show(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """`?port=` is the port of a server whose preview is open; without, what can be chosen."""
    session = await session_of(project_id, session_id)
    given = request.GET.get("port", "")
    number = _number(given) if given else 0
    source, problem = "", ""
    found: list[Found] = []
    try:
        previews.check(request.scheme or "", request.get_host(), _arrived(request))
        found = await previews.found(session, fresh=True)
    except NoPreview as no:
        problem = str(no)
    opened = previews.of(session, number) if number and not problem else None
    if opened is not None:
        name = request.get_host().rpartition(":")[0]
        source = f"http://{name}:{opened.port}{opened.guard.ticket(_holder(request))}"
    context: dict[str, Any] = {
        "session": session,
        "found": found,
        "number": number,
        "source": source,
        "problem": problem,
    }
    response = await page(request, "preview/page.html", **context)
    frames = f"frame-src {source.partition('/.')[0]}; " if source else ""
    ours = CONTENT_SECURITY_POLICY.decode().replace("frame-ancestors 'none'", "frame-ancestors 'self'")
    response["Content-Security-Policy"] = f"{frames}{ours}"
    return response


@require_POST
async def begin(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """Open the preview of what listens on `port`, and go to its page."""
    session = await session_of(project_id, session_id)
    number = _number(request.POST.get("port", ""))
    arrived = _arrived(request)
    try:
        previews.check(request.scheme or "", request.get_host(), arrived)
        await previews.open(session, number, arrived)
    except NoPreview as no:
        return refused(str(no))
    return redirect(f"{reverse('preview', args=(project_id, session_id))}?port={number}")


def _number(given: str) -> int:
    """Raises Http404."""
    if not (given.isascii() and given.isdecimal() and 0 < int(given[:6]) < 65536):
        raise Http404(gettext("There is no such port."))
    return int(given)


def _arrived(request: HttpRequest) -> str:
    """The address of this machine to which the request came."""
    server = _scope(request).get("server") or ("",)
    return str(server[0])


def _holder(request: HttpRequest) -> Holder:
    """The login of who asks: a preview ends with it."""
    principal: dict[str, Any] = _scope(request).get("principal") or {}
    name = principal.get("held") or principal.get("session") or ""
    return Holder(BrowserSession(str(name), "", float("inf"), logins.generation()), principal)


def _scope(request: HttpRequest) -> dict[str, Any]:
    return getattr(request, "scope", {})

"""Answers of the views: pages, fragments, messages beside a field, toasts."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpRequest, HttpResponse

from sessions.rendering.html import html

REFUSED = 422


def page(request: HttpRequest, template: str, *, status: int = 200, **context: Any) -> HttpResponse:
    """A whole page; never cached, so that going back shows the true state."""
    response = HttpResponse(html(template, csrf=csrf_token(request), **context), status=status)
    response["Cache-Control"] = "no-store"
    return response


def fragment(template: str, *, status: int = 200, **context: Any) -> HttpResponse:
    return HttpResponse(html(template, **context), status=status)


def refused(message: str) -> HttpResponse:
    """Why something was not done, to be shown where the form points (`hx-target`)."""
    return fragment("fragments/refused.html", status=REFUSED, message=message)


def toast(text: str, *, undo: str = "", gone: str = "") -> HttpResponse:
    """A note for `#toasts`: `undo` is a URL to post to, `gone` the session that left the list."""
    return fragment("fragments/toast.html", text=text, undo=undo, gone=gone)


def done(**events: Any) -> HttpResponse:
    """Nothing to swap; the events tell the page what happened."""
    response = HttpResponse(status=204)
    if events:
        response["HX-Trigger"] = json.dumps(events)
    return response


def redirect(url: str) -> HttpResponse:
    """To another page, for htmx and for a plain form alike."""
    response = HttpResponse(status=200)
    response["HX-Redirect"] = url
    return response


def csrf_token(request: HttpRequest) -> str:
    """The guard's token for this login; empty where no guard stands before the pages (tests)."""
    principal = getattr(request, "scope", {}).get("principal") or {}
    return str(principal.get("csrf") or "")


def actor(request: HttpRequest) -> str:
    """Who acts, for logs: the kind of login, and for a browser which; empty where no guard stands before."""
    principal = getattr(request, "scope", {}).get("principal") or {}
    kind = "browser" if principal.get("kind") == "cookie" else str(principal.get("kind") or "")
    login = str(principal.get("session") or "")[:6]
    return f"{kind} {login}".strip()


def beside(name: str, message: str) -> HttpResponse:
    """Why something was not done, in `#<name>-problem` beside its buttons; they stay."""
    response = refused(message)
    response["HX-Retarget"] = f"#{name}-problem"
    response["HX-Reswap"] = "innerHTML"
    return response


def place(request: HttpRequest, name: str, other: str) -> str:
    """The id under which something is shown that htmx asks about: its name, or with `other` before it."""
    return other + name if request.headers.get("HX-Target", "").startswith(other + name) else name

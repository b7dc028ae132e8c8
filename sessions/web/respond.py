"""Answers of the views: pages, fragments, messages beside a field, toasts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext

from sessions.changes.upkeep import damage
from sessions.core.db import in_db
from sessions.core.principal import person_of, reach
from sessions.rendering.html import html
from sessions.web import keys

REFUSED = 422


async def page(
    request: HttpRequest, template: str, *, status: int = 200, live: bool = False, **context: Any
) -> HttpResponse:
    """A whole page, with the keys that are in force. Going back shows the true state: a `live`
    page catches up by its socket and may wait in the browser for that. Any other is asked for anew; so is one
    whose notice may be dismissed elsewhere."""
    shortcuts = json.dumps(await in_db(keys.table))
    known, person = reach(request), person_of(request)
    context["role_sheet"] = known.address() if known else ""
    context["person"] = person.name if person else ""
    shown = html(template, csrf=csrf_token(request), shortcuts=shortcuts, **context)
    response = HttpResponse(shown, status=status)
    waits = live and not damage.is_told()
    response["Cache-Control"] = "private, no-cache" if waits else "no-store"
    return response


def fragment(template: str, *, status: int = 200, **context: Any) -> HttpResponse:
    return HttpResponse(html(template, **context), status=status)


def refused(message: str) -> HttpResponse:
    """Why something was not done, to be shown where the form points (`hx-target`)."""
    return fragment("fragments/refused.html", status=REFUSED, message=message)


def toast(text: str, *, undo: str = "", values: str = "", gone: str = "") -> HttpResponse:
    """A note for `#toasts`: `undo` is a URL to post to, `values` (JSON) what is posted, `gone` the sessions
    that left the list."""
    return fragment("fragments/toast.html", text=text, undo=undo, values=values, gone=gone)


def removed(shown: str, name: str, undo: str, values: Mapping[str, Any], **context: Any) -> HttpResponse:
    """The template `shown`, which is without what was called `name` now, and a toast that brings it back: by
    posting `values` to the URL `undo`."""
    text = gettext("Removed %(path)s.") % {"path": name}
    return fragment(
        "fragments/removed.html", shown=shown, text=text, undo=undo, values=json.dumps(values), **context
    )


def noted(response: HttpResponse) -> HttpResponse:
    """A toast, whatever the request was to swap."""
    response["HX-Retarget"], response["HX-Reswap"] = "#toasts", "beforeend"
    return response


def late(text: str, *, stop: str = "") -> HttpResponse:
    """A toast that says what was answered before, and nothing else; `stop` is a URL to post to that ends
    what now runs."""
    response = fragment("fragments/late.html", status=REFUSED, text=text, stop=stop)
    response["HX-Reswap"] = "none"
    return response


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


def beside(name: str, message: str, template: str = "fragments/refused.html", **context: Any) -> HttpResponse:
    """Why something was not done, in `#<name>-problem` beside its buttons; they stay."""
    response = fragment(template, status=REFUSED, message=message, **context)
    response["HX-Retarget"] = f"#{name}-problem"
    response["HX-Reswap"] = "innerHTML"
    return response


def place(request: HttpRequest, name: str, other: str) -> str:
    """The id under which something is shown that htmx asks about: its name, or with `other` before it."""
    return other + name if request.headers.get("HX-Target", "").startswith(other + name) else name

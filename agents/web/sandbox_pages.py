"""What the sandbox's probe showed on this machine, and the ways to ports in the sandbox of a session."""

from __future__ import annotations

import asyncio

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from agents.toolkit.sandbox import door, probe
from agents.toolkit.sandbox.ports import NotThere
from sessions.web.respond import done, late

LOCAL = "localhost"


@require_GET
async def found(request: HttpRequest) -> HttpResponse:
    return render(request, "settings/sandbox.html", {"found": await asyncio.to_thread(probe.found)})


@require_POST
async def open_port(request: HttpRequest) -> HttpResponse:
    """Have `port`, which a program in the sandbox of `session` listens on, be reached from this machine."""
    try:
        await door.open_port(*_port(request.POST))
    except NotThere as error:
        return late(str(error))
    return done()


@require_POST
async def close_port(request: HttpRequest) -> HttpResponse:
    door.close_port(*_port(request.POST))
    return done()


@require_GET
async def go(request: HttpRequest) -> HttpResponse:
    """To what listens there. It is another host by name than this page's, as a browser keeps cookies by the
    host alone, whatever the port (RFC 6265 §8.5): what the agent wrote is not sent this page's."""
    session_id, number = _port(request.GET)
    way = next((port.way for port in door.ports(session_id) if port.number == number), 0)
    if not way:
        raise Http404(gettext("There is no way to this port any more."))
    host = "127.0.0.1" if request.get_host().partition(":")[0] == LOCAL else LOCAL
    return HttpResponseRedirect(f"http://{host}:{way}/")


def _port(given: QueryDict) -> tuple[str, int]:
    """Raises Http404."""
    number = given.get("port", "")
    if not (number.isdecimal() and len(number) < 6):
        raise Http404(gettext("There is no such port."))
    return given.get("session", ""), int(number)

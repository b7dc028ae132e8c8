"""Devices: a browser on another machine is let in by a code that this one shows, and out again.

Where a server has people, the sign-ins of each are theirs (opencode_web.people), and this page has only what
can be reached.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from opencode_web.site import qr, remote
from opencode_web.site.logins import logins
from opencode_web.site.security.asgi import Scope
from opencode_web.site.security.cookies import LIFETIME
from opencode_web.site.security.launch import Joined, launch_url
from sessions.core import browsers
from sessions.core.db import in_db
from sessions.core.models import Device
from sessions.core.store import devices
from sessions.core.store import logins as ends
from sessions.web.respond import beside, fragment, page


@dataclass(frozen=True, slots=True)
class Row:
    """A device in the list; `here` is the browser that looks."""

    device: Device
    here: bool

    @property
    def kind(self) -> str:
        return browsers.named(self.device.agent)


@require_GET
async def show(request: HttpRequest) -> HttpResponse:
    return await page(request, "devices/page.html", **await context(request))


@require_GET
async def reached(request: HttpRequest) -> HttpResponse:
    """Where the server can be reached, and how that is protected; as JSON for who asks for that."""
    found = await remote.examine()
    if request.headers.get("Accept", "") == "application/json":
        return JsonResponse({"findings": [one.wire() for one in found]})
    return fragment("devices/reached.html", findings=found)


@require_POST
async def add(request: HttpRequest) -> HttpResponse:
    """A code for a device called `name`, which reaches the server at the origin `base`."""
    if settings.PEOPLE:
        raise Http404(gettext("Devices are on your own page here."))
    login = secrets.token_urlsafe(16)

    async def joined(scope: Scope) -> None:
        await in_db(devices.joined, login, agent_of(scope))

    try:
        await in_db(devices.add, login, request.POST.get("name", ""))
        shown = invitation(request, login, joined)
    except (devices.DeviceRefused, remote.NotServed) as problem:
        return beside("device", str(problem))
    return fragment("devices/code.html", **shown)


@require_POST
async def remove(request: HttpRequest) -> HttpResponse:
    """End the login of the one with this `id`; what it has open is closed at once."""
    if await in_db(devices.remove, request.POST.get("id", "")):
        await logins.end_by_id(request.POST["id"])
    return fragment("devices/list.html", **await context(request))


def invitation(request: HttpRequest, login: str, joined: Joined) -> dict[str, Any]:
    """What a template shows of the way in for a device, whose login has this id: it works once, for ten
    minutes. Raises NotServed for an origin that is not one of the server's."""
    base = request.POST.get("base", "")
    if base not in origins(request):
        raise remote.NotServed(gettext("The server is not known by that address."))
    issue = request.scope.get("launch")  # type: ignore[attr-defined]  # ASGI's
    if issue is None:
        raise remote.NotServed(gettext("Devices are let in by the front of this team."))
    link = launch_url(f"{base}{settings.BASE_PATH}", issue(login, joined))
    return {"code": qr.code(link), "link": link, "near": is_loopback(base)}


def origins(request: HttpRequest) -> list[str]:
    """By which the server may be reached: that of the page first, those of this machine alone last."""
    own = f"{request.scheme}://{request.get_host()}"
    return sorted({own, *remote.origins()}, key=lambda one: (is_loopback(one), one != own, one))


def is_loopback(origin: str) -> bool:
    """Whether it leads a device to itself."""
    host = urlsplit(origin).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def agent_of(scope: Scope) -> str:
    """The User-Agent of a request."""
    found = (value for name, value in scope["headers"] if name == b"user-agent")
    return bytes(next(found, b"")).decode("latin-1")


async def context(request: HttpRequest) -> dict[str, Any]:
    principal = request.scope.get("principal") or {}  # type: ignore[attr-defined]
    rows = [] if settings.PEOPLE else await in_db(_rows, str(principal.get("session") or ""))
    return {"rows": rows, "origins": origins(request), "people": settings.PEOPLE}


def _rows(login: str) -> list[Row]:
    """Those whose login is good: it may have been ended on the device itself, or with all others."""
    ended = dict(ends.ended())
    found = devices.listed(int((time.time() - LIFETIME) * 1000))
    since = ended.get("*", 0.0) * 1000
    good = (row for row in found if row.id not in ended and (row.time_joined or 0) > since)
    return [Row(row, row.id == login) for row in good]

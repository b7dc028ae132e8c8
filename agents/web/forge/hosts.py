"""Forges among the accounts: which are known, adding one with its token, trying it, removing it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from agents.forge import hosts as known
from agents.forge.hosts import Host
from agents.forge.opening import try_token
from agents.forge.shapes import ForgeError
from sessions.changes.review.marking import digest
from sessions.web.respond import beside, fragment

_SEEN = 12
"""Characters that a token must have before its last four are shown."""


@dataclass(frozen=True, slots=True)
class Row:
    """One forge. `ending` are the last letters of its token."""

    host: Host

    @property
    def id(self) -> str:
        return f"forge-{digest(self.host.name)}"

    @property
    def ending(self) -> str:
        return self.host.token[-4:] if len(self.host.token) >= _SEEN else ""


@require_GET
async def forges(request: HttpRequest) -> HttpResponse:
    return await _listed()


@require_POST
async def keep(request: HttpRequest) -> HttpResponse:
    """Keep the `token` of a forge of some `kind` at an `address` unless the forge refuses it; with `anyway`
    it is not asked."""
    fields = request.POST
    try:
        host = known.checked(*(fields.get(name, "") for name in ("kind", "address", "token")))
    except ForgeError as problem:
        return beside("forges", str(problem))
    who = ""
    if "anyway" not in fields:
        try:
            who = await try_token(host)
        except ForgeError as problem:
            return beside(
                "forges", gettext("Not kept: %(problem)s") % {"problem": problem}, "forge/not_kept.html"
            )
    try:
        await asyncio.to_thread(known.keep, host)
    except ForgeError as problem:
        return beside("forges", str(problem))
    return await _listed(
        _whose(host, who) if who else gettext("%(name)s: the token is kept.") % {"name": host.name}
    )


def _whose(host: Host, who: str) -> str:
    return gettext("%(name)s: the token is kept, it is %(who)s’s.") % {"name": host.name, "who": who}


@require_POST
async def test(request: HttpRequest) -> HttpResponse:
    """Whose the token of the forge `name` is."""
    host = (await asyncio.to_thread(_all)).get(request.POST.get("name", ""))
    if host is None:
        raise Http404(gettext("There is no such forge."))
    try:
        who = await try_token(host)
    except ForgeError as problem:
        return beside("forges", str(problem))
    return await _listed(
        gettext("%(name)s: the token is %(who)s’s.") % {"name": host.name, "who": who or gettext("somebody")}
    )


@require_POST
async def forget(request: HttpRequest) -> HttpResponse:
    name = request.POST.get("name", "")
    try:
        await asyncio.to_thread(known.forget, name)
    except ForgeError as problem:
        return beside("forges", str(problem))
    return await _listed(
        gettext("%(name)s: the token is removed here. It stays valid there.") % {"name": name}
    )


async def _listed(said: str = "") -> HttpResponse:
    rows = [Row(host) for host in (await asyncio.to_thread(_all)).values()]
    return fragment(
        "forge/hosts.html", rows=rows, kinds=known.NAMES.items(), said=said, file=str(known.file())
    )


def _all() -> dict[str, Host]:
    """Those that are known, with the tokens of programs. Blocks."""
    return {name: known.with_token(host) for name, host in known.hosts().items()}

"""The settings page of notifiers: which there are, how telling them went, making, trying and removing one."""

from __future__ import annotations

import json
import secrets
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.utils.translation import get_language, gettext
from django.utils.translation.trans_null import gettext_noop
from django.views.decorators.http import require_GET, require_POST

from agents.notifiers import outbox, push
from agents.notifiers.formats import FORMATS, PUSH, Format, place
from sessions.core import browsers
from sessions.core.db import in_db
from sessions.core.models import Notifier, Project
from sessions.core.principal import person_of, sees
from sessions.core.store import notifiers, projects
from sessions.core.store.notifiers import Choice, NotifierRefused, Target
from sessions.web.access import project_of
from sessions.web.respond import beside, fragment, page

KINDS = {
    "asks": gettext_noop("What asks you"),
    "done": gettext_noop("What is done"),
    "failed": gettext_noop("What has failed"),
    "goal": gettext_noop("Goals that have ended"),
}


@dataclass(frozen=True, slots=True)
class Row:
    """A notifier in the list."""

    notifier: Notifier
    format: Format
    digest: str = ""
    """Of a browser's subscription (`_digest_of`)."""

    @property
    def id(self) -> str:
        return f"notifier-{self.notifier.id}"


@require_GET
async def show(request: HttpRequest) -> HttpResponse:
    """`?project=` is where the way back leads."""
    back = request.GET.get("project", "")
    project = await project_of(back) if back else None
    return await page(request, "notifiers/page.html", project=project, **await _context(request))


@require_GET
async def form(request: HttpRequest) -> HttpResponse:
    """That of a new one of some `format`."""
    name = request.GET.get("format", "")
    if name not in outbox.formats():
        raise Http404(gettext("There is no such format."))
    return fragment("notifiers/form.html", **await _form(request, name))


@require_POST
async def save(request: HttpRequest) -> HttpResponse:
    """A new one of a `format`, or in the place of the one with this `id`. Gives the list."""
    before = await _known(request) if request.POST.get("id") else None
    try:
        choice = _choice(request, before)
        await in_db(notifiers.save, choice, _person(request), before)
    except NotifierRefused as problem:
        return beside(f"notifier-{before.id}" if before else "notifier", str(problem))
    return await _list(request, gettext("%(name)s is kept.") % {"name": choice.name})


@require_POST
async def add_push(request: HttpRequest) -> HttpResponse:
    """Tell this browser by its push service: `endpoint`, and the keys `p256dh` and `auth`, are what it
    subscribed with. The same once more changes nothing."""
    given = request.POST
    keys = json.dumps({name: given.get(name, "") for name in ("p256dh", "auth")})
    target = Target(given.get("endpoint", ""), secret=keys)
    try:
        FORMATS[PUSH].check(target)
        choice = Choice(
            name=browsers.named(request.headers.get("User-Agent", "")),
            format=PUSH,
            target=target,
            place=place(PUSH, target),
            kinds=list(KINDS),
            wait=1,
            base=_origin(request),
            language=get_language() or "",
        )
        if not await in_db(_is_told, _person(request), target):
            await in_db(notifiers.save, choice, _person(request))
    except NotifierRefused as problem:
        return beside("push", str(problem))
    return await _list(request, gettext("This browser is told by push."))


def _is_told(person: str, target: Target) -> bool:
    """Whether a browser's subscription has a notifier. On the ORM's thread."""
    rows = [row for row in notifiers.listed(person) if row.format == PUSH]
    return any(_digest_of(row) == _digest(target.address) for row in rows)


def _digest_of(notifier: Notifier) -> str:
    """Of a browser's subscription, by which its page knows its own; empty for all others."""
    if notifier.format != PUSH:
        return ""
    try:
        return _digest(notifiers.target_of(notifier).address)
    except NotifierRefused:
        return ""


def _digest(address: str) -> str:
    return sha256(address.encode()).hexdigest()


@require_POST
async def test(request: HttpRequest) -> HttpResponse:
    """Tell the one with this `id` something now, as it is kept."""
    notifier = await _known(request)
    problem = await outbox.test(notifier)
    if problem:
        words = gettext("%(name)s was not told. %(problem)s") % {"name": notifier.name, "problem": problem}
        return await _list(request, words, failed=True)
    return await _list(request, gettext("%(name)s was told.") % {"name": notifier.name})


@require_POST
async def switch(request: HttpRequest) -> HttpResponse:
    """Off, or on with `on`."""
    notifier = await _known(request)
    on = "on" in request.POST
    await in_db(notifiers.switch, notifier, on)
    words = gettext("%(name)s is on.") if on else gettext("%(name)s is off.")
    return await _list(request, words % {"name": notifier.name})


@require_POST
async def remove(request: HttpRequest) -> HttpResponse:
    notifier = await _known(request)
    await in_db(notifiers.remove, notifier)
    return await _list(request, gettext("%(name)s is removed.") % {"name": notifier.name})


async def _list(request: HttpRequest, said: str, *, failed: bool = False) -> HttpResponse:
    return fragment("notifiers/list.html", said=said, failed=failed, **await _context(request))


async def _context(request: HttpRequest) -> dict[str, Any]:
    names = outbox.formats()
    return {
        **await _form(request, names[0]),
        "rows": await in_db(_rows, _person(request)),
        "formats": [(name, FORMATS[name].title) for name in names],
        "push_key": push.public_key(),
    }


def _rows(person: str) -> list[Row]:
    return [Row(row, FORMATS[row.format], _digest_of(row)) for row in notifiers.listed(person)]


async def _form(request: HttpRequest, name: str) -> dict[str, Any]:
    """What the form of a new one shows."""
    return {
        "name": name,
        "format": FORMATS[name],
        "kinds": list(KINDS.items()),
        "projects": await in_db(_projects, request),
        "base": _origin(request),
        "secret": f"whsec_{b64encode(secrets.token_bytes(32)).decode()}" if name == "json" else "",
    }


def _projects(request: HttpRequest) -> Sequence[Project]:
    person = person_of(request)
    return [project for project in projects.recent() if sees(person, project.id)]


def _choice(request: HttpRequest, before: Notifier | None) -> Choice:
    """Raises NotifierRefused, and Http404 for a format that is not to be had."""
    given = request.POST
    name = before.format if before else given.get("format", "")
    if before is None and name not in outbox.formats():
        raise Http404(gettext("There is no such format."))
    format, target = FORMATS[name], _target(given)
    known = notifiers.target_of(before) if before and not (target.address and target.secret) else Target("")
    whole = Target(target.address or known.address, target.to or known.to, target.secret or known.secret)
    format.check(whole)
    if format.needs_secret and not whole.secret:
        raise NotifierRefused(gettext("It needs its secret."))
    return Choice(
        name=" ".join(given.get("name", "").split()),
        format=name,
        target=whole,
        place=place(name, whole),
        kinds=[kind for kind in KINDS if kind in given.getlist("kinds")],
        projects=given.getlist("projects"),
        wait=_minutes(given.get("wait", "")),
        quiet_from=given.get("quiet_from", "")[:5],
        quiet_until=given.get("quiet_until", "")[:5],
        zone=request.COOKIES.get("timezone", "") or (before.zone if before else ""),
        base=_base(given.get("base", ""), request),
        language=get_language() or "",
    )


def _target(given: QueryDict) -> Target:
    return Target(*(given.get(name, "").strip() for name in ("address", "to", "secret")))


def _minutes(text: str) -> int:
    """Raises NotifierRefused."""
    if text and not text.isdecimal():
        raise NotifierRefused(gettext("Give the minutes as a number."))
    return int(text[:6] or 0)


def _base(text: str, request: HttpRequest) -> str:
    """Where links lead: an origin. Raises NotifierRefused."""
    text = text.strip().rstrip("/") or _origin(request)
    try:
        parts = urlsplit(text)
        known = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        known = False
    if not known or len(text) > 300 or text != f"{parts.scheme}://{parts.netloc}" or "@" in parts.netloc:
        raise NotifierRefused(gettext("Links lead to an address such as https://machine.example.org."))
    return text


def _origin(request: HttpRequest) -> str:
    """Of the page."""
    return f"{request.scheme}://{request.get_host()}"


async def _known(request: HttpRequest) -> Notifier:
    """The one with the `id` of the form. Raises Http404."""
    found = await in_db(notifiers.get, request.POST.get("id", ""), _person(request))
    if found is None:
        raise Http404(gettext("This notifier is not there any more."))
    return found


def _person(request: HttpRequest) -> str:
    person = person_of(request)
    return person.name if person else ""

"""The page of all people, and each one's own."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from opencode_web.people import store
from opencode_web.people.models import Person
from opencode_web.people.reach import of_address
from opencode_web.site import devices, remote
from opencode_web.site.logins import logins
from opencode_web.site.security.asgi import Scope
from sessions.core.db import in_db
from sessions.core.principal import person_of
from sessions.core.roles import Role
from sessions.core.store import projects
from sessions.web.respond import beside, fragment, page

_OWN = "own"
"""In a form: the role in a project is that of the person again."""


@require_GET
async def people(request: HttpRequest) -> HttpResponse:
    """All of them, with what they may do."""
    return await page(request, "people/page.html", **await in_db(_everybody, _login(request)))


@require_POST
async def invite(request: HttpRequest) -> HttpResponse:
    """Somebody new, and the link by which they choose a password."""
    try:
        name, email = request.POST.get("name", ""), request.POST.get("email", "")
        person = await in_db(store.add, name, _role(request), email)
    except store.Refused as problem:
        return beside("invite", str(problem))
    shown = await in_db(_everybody, _login(request))
    return fragment("people/list.html", invited=person, link=await _link(request, person), **shown)


@require_POST
async def link(request: HttpRequest, person_id: str) -> HttpResponse:
    """Another link, for one who lost theirs or the password."""
    person = await _person(person_id)
    return fragment("people/link.html", invited=person, link=await _link(request, person))


@require_POST
async def change(request: HttpRequest, person_id: str) -> HttpResponse:
    """The address, the role, or whether they may come in at all; then what they have open is closed."""
    person = await _person(person_id)
    try:
        if "email" in request.POST:
            await in_db(store.change_email, person, request.POST["email"])
            return await _shown(request)(person)
        if "role" in request.POST:
            await in_db(store.change, person, role=_role(request))
        else:
            await in_db(store.change, person, active="active" in request.POST)
    except store.Refused as problem:
        return beside(f"person-{person.pk}", str(problem))
    await _hang_up(request, person)
    return await _shown(request)(person)


@require_POST
async def change_in_project(request: HttpRequest, person_id: str) -> HttpResponse:
    """The role in one project."""
    person = await _person(person_id)
    role = None if request.POST.get("role") == _OWN else _role(request)
    await in_db(store.change_in_project, person, request.POST.get("project", ""), role, store.node())
    await _hang_up(request, person)
    return await _shown(request)(person)


@require_POST
async def remove_token_of(request: HttpRequest, person_id: str) -> HttpResponse:
    return await _ended(request, await _person(person_id), store.remove_token, _shown(request))


@require_POST
async def end_sign_in_of(request: HttpRequest, person_id: str) -> HttpResponse:
    return await _ended(request, await _person(person_id), store.end_sign_in, _shown(request))


@require_GET
async def you(request: HttpRequest) -> HttpResponse:
    """One's own name, tokens and sign-ins, and the way to password and second factor."""
    person = await _oneself(request)
    own = await in_db(_own, person, _login(request))
    return await page(request, "people/you.html", origins=devices.origins(request), **own)


@require_POST
async def make_token(request: HttpRequest) -> HttpResponse:
    """It is shown in this answer and never again."""
    person = await _oneself(request)
    role = min(_role(request), Role(person.role), key=lambda one: one.rank)
    try:
        token = await in_db(store.make_token, person, request.POST.get("name", ""), role)
    except store.Refused as problem:
        return beside("token", str(problem))
    return fragment("people/own.html", token=token, **await in_db(_own, person, _login(request)))


@require_POST
async def remove_token(request: HttpRequest) -> HttpResponse:
    return await _ended(request, await _oneself(request), store.remove_token, _own_shown(request))


@require_POST
async def unlink(request: HttpRequest) -> HttpResponse:
    """From the account at the issuer."""
    person = await _oneself(request)
    try:
        await in_db(store.unlink, person)
    except store.Refused as problem:
        return beside("issuer", str(problem))
    return await _own_shown(request)(person)


@require_POST
async def end_sign_in(request: HttpRequest) -> HttpResponse:
    """In another browser; this one says so to the guard."""
    return await _ended(request, await _oneself(request), store.end_sign_in, _own_shown(request))


@require_POST
async def add_device(request: HttpRequest) -> HttpResponse:
    """A code by which a device of one's own is signed in, at the origin `base`."""
    person = await _oneself(request)
    login = secrets.token_urlsafe(16)

    async def joined(scope: Scope) -> None:
        client = str(scope["client"][0]) if scope.get("client") else ""
        await in_db(store.sign_in, person.pk, login, devices.agent_of(scope), client)

    try:
        shown = devices.invitation(request, login, joined)
    except remote.NotServed as problem:
        return beside("device", str(problem))
    return fragment("devices/code.html", **shown)


@require_GET
async def role_sheet(request: HttpRequest, here: str, everywhere: str) -> HttpResponse:
    """What a page hides from who has these roles. Its address changes with it (`Reach.address`)."""
    try:
        sheet = of_address(here, everywhere).sheet()
    except ValueError as error:
        raise Http404(gettext("There is no such role.")) from error
    response = HttpResponse(sheet, content_type="text/css; charset=utf-8")
    response["Cache-Control"] = "private, max-age=31536000, immutable"
    return response


async def _hang_up(request: HttpRequest, person: Person) -> None:
    """What they have open may come again, with what they may now; not this request."""
    for name in await in_db(store.open_names, person):
        if name != _login(request):
            logins.hang_up(name)


async def _ended(
    request: HttpRequest,
    person: Person,
    end: Callable[[Person, str], Iterable[str]],
    shown: Callable[[Person], Awaitable[HttpResponse]],
) -> HttpResponse:
    """What is open by it is closed at once."""
    for name in await in_db(end, person, request.POST.get("id", "")):
        await logins.end_by_id(name)
    return await shown(person)


def _shown(request: HttpRequest) -> Callable[[Person], Awaitable[HttpResponse]]:
    def found(person: Person) -> dict[str, Any]:
        return {"row": store.listed(person), **_choices(_login(request))}

    async def shown(person: Person) -> HttpResponse:
        return fragment("people/person.html", **await in_db(found, person))

    return shown


def _own_shown(request: HttpRequest) -> Callable[[Person], Awaitable[HttpResponse]]:
    async def shown(person: Person) -> HttpResponse:
        return fragment("people/own.html", **await in_db(_own, person, _login(request)))

    return shown


def _own(person: Person, login: str) -> dict[str, Any]:
    highest = Role(person.role).rank
    roles = [role for role in Role if role and role.rank <= highest]
    own = {"row": store.listed(person), "login": login, "roles": roles, "issuer": settings.OIDC}
    return own | {"account": store.account_at_issuer(person)} if settings.OIDC else own


def _everybody(login: str) -> dict[str, Any]:
    return {"rows": store.everybody(), **_choices(login)}


def _choices(login: str) -> dict[str, Any]:
    return {
        "roles": list(Role),
        "projects": projects.recent(),
        "own": _OWN,
        "login": login,
        "issuer": settings.OIDC,
    }


async def _link(request: HttpRequest, person: Person) -> str:
    return request.build_absolute_uri(await in_db(store.link_for, person))


async def _person(person_id: str) -> Person:
    person = await in_db(store.get, person_id)
    if person is None:
        raise Http404(gettext("This person is not known here."))
    return person


async def _oneself(request: HttpRequest) -> Person:
    """Raises Http404 for the server's own password, which is nobody, and for a token, which makes no
    others."""
    person = person_of(request)
    principal = request.scope["principal"]  # type: ignore[attr-defined]  # ASGI's
    if person is None or principal["kind"] == "bearer":
        raise Http404(gettext("This page is for people in a browser."))
    return await _person(person.id)


def _login(request: HttpRequest) -> str:
    """The id of the browser's login."""
    return str(request.scope["principal"]["session"] or "")  # type: ignore[attr-defined]  # ASGI's


def _role(request: HttpRequest) -> Role:
    """Raises Http404 for what no form of ours sends."""
    try:
        return Role(request.POST.get("role", ""))
    except ValueError as error:
        raise Http404(gettext("There is no such role.")) from error

"""Django's sessions for the pages by which people sign in; for all pages, whether who asks may have them."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from django.conf import settings
from django.contrib.auth import alogout
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.decorators import async_only_middleware
from django.utils.translation import gettext

from opencode_web.people import needs, places
from opencode_web.people.models import SignIn
from opencode_web.people.reach import Reach
from opencode_web.people.sign_in import admit, end_others
from sessions.core.db import in_db
from sessions.core.principal import acting, person_of
from sessions.core.roles import Role, allowed
from sessions.rendering.html import html

Handler = Callable[[HttpRequest], Awaitable[HttpResponseBase]]

SIGNING_IN = "login"
"""The first part of the paths of pages that everybody may see to sign in."""
_OF_SIGN_INS = frozenset({SIGNING_IN, "you"})
_REFERRER = "same-origin"
"""Under `no-referrer` a browser sends `Origin: null` with a form (Fetch standard §3.2)."""


def _first_part(request: HttpRequest) -> str:
    return request.path_info.removeprefix(settings.BASE_PATH).removeprefix("/").partition("/")[0]


@async_only_middleware
def signed_in(get_response: Handler) -> Handler:
    """Django's session knows how far somebody has come in signing in, and who may change how they do. It
    opens nothing else: that does the guard's cookie."""

    async def of_the_same(request: HttpRequest) -> HttpResponseBase:
        person, user = person_of(request), await request.auser()
        known = _id(person) if person or not _links(request) else await in_db(_signed_in, request)
        if user.is_authenticated and str(user.pk) != known:  # of a sign-in that the guard has ended
            await alogout(request)
        return await get_response(request)

    with_session: Any = SessionMiddleware(AuthenticationMiddleware(of_the_same))

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        if _first_part(request) not in _OF_SIGN_INS:
            return await get_response(request)
        response: HttpResponseBase = await with_session(request)
        response.headers["Referrer-Policy"] = _REFERRER
        cookie = response.cookies.get(settings.SESSION_COOKIE_NAME)
        if cookie is not None and request.is_secure():
            cookie["secure"] = True
        await end_others(request)
        await admit(request, response)
        return response

    return middleware


def _links(request: HttpRequest) -> bool:
    """Whether an account at the issuer may be linked by it with the person who is signed in already."""
    return bool(settings.OIDC) and request.path_info.startswith(f"{settings.LOGIN_URL}/by")


def _signed_in(request: HttpRequest) -> str:
    login = request.scope["login"]  # type: ignore[attr-defined]  # the guard's
    row = SignIn.objects.select_related("person").filter(id=login, person__is_active=True).first()
    return str(row.person.pk) if row else ""


def _id(person: Any) -> str:
    return person.id if person else ""


@async_only_middleware
def permitted(get_response: Handler) -> Handler:
    """What a request takes is asked for before its view: 403, in words, for who has not the role."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        person = person_of(request)
        acting.set(person.name if person else "")  # also for what an answer does as it streams
        return await get_response(request)

    middleware.process_view = _refusal  # type: ignore[attr-defined]  # Django looks for it there
    return middleware


async def _refusal(
    request: HttpRequest, view: Any, args: Any, given: Mapping[str, Any]
) -> HttpResponse | None:
    match = request.resolver_match
    assert match is not None
    of_api = hasattr(request, "urlconf")
    if request.scope["principal"] is None:  # type: ignore[attr-defined]  # ASGI's
        known = match.url_name in needs.PUBLIC or _first_part(request) == SIGNING_IN
        return None if known else HttpResponse(status=403)
    person = person_of(request)
    if person is None:
        return None
    method = request.method or ""
    name = needs.operation(method, match.route) if of_api else match.url_name or ""
    need = needs.of_operation(name) if of_api else needs.of_page(method, name)
    if method in ("POST", "PATCH") and needs.raises(_given(request, of_api)):
        raised = Role.ADMINISTER if settings.TWO_PEOPLE else needs.RAISED
        need = max(need, raised, key=lambda role: role.rank)
    about = set() if name in needs.EVERYWHERE else await in_db(_place_of(of_api), request, given, need)
    if all(allowed(person, need, project) for project in about or [None]):
        request.reach = Reach.of(person, about)  # type: ignore[attr-defined]  # for the page
        return None
    return refused(request, need, of_api)


def _place_of(of_api: bool) -> Callable[[HttpRequest, Mapping[str, Any], Role], set[str | None]]:
    return places.of_operation if of_api else places.of_page


def refused(request: HttpRequest, need: Role, of_api: bool) -> HttpResponse:
    """In the form of what was asked for."""
    words = gettext(
        "This takes the role “%(label)s”, which you do not have here. Who administers can give it to you."
    ) % {"label": need.label}
    if of_api:
        body = {"name": "ForbiddenError", "data": {"message": words}}
        return HttpResponse(json.dumps(body), status=403, content_type="application/json")
    if request.headers.get("HX-Request") or not request.accepts("text/html"):
        return HttpResponse(words, status=403, content_type="text/plain; charset=utf-8")
    return HttpResponse(html("people/refused.html", words=words, csrf=None), status=403)


def _given(request: HttpRequest, of_api: bool) -> dict[str, Any]:
    """What a form gives; for the API an object of JSON, whatever it says that it is."""
    if of_api:
        return places.body_of(request)
    return {name: request.POST[name] for name in needs.RAISING if name in request.POST}

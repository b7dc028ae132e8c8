"""Between django-allauth, which finds out who somebody is, and the guard, whose cookie lets them in."""

from __future__ import annotations

import secrets
from typing import Any

from allauth.account.signals import password_changed, password_reset, password_set
from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.http import HttpRequest, HttpResponseBase

from opencode_web.people import store
from opencode_web.people.models import Person
from opencode_web.site.logins import logins
from sessions.core.db import in_db
from sessions.web.respond import csrf_token


def listen() -> None:
    user_logged_in.connect(_note)
    for changed in (password_changed, password_reset, password_set):
        changed.connect(_note_password)


def _note(sender: Any, request: HttpRequest, user: Person, **_: Any) -> None:
    request.signed_in = user  # type: ignore[attr-defined]  # for `admit`


def _note_password(sender: Any, request: HttpRequest, user: Person, **_: Any) -> None:
    request.has_new_password = user  # type: ignore[attr-defined]  # for `end_others`


def token(request: HttpRequest) -> dict[str, Any]:
    """For the forms of django-allauth: what the guard wants to see of a browser that its cookie lets in; and
    where else people may sign in."""
    return {"token": csrf_token(request), "issuer": settings.OIDC}


async def admit(request: HttpRequest, response: HttpResponseBase) -> None:
    """Give who signed in with this request a login of the guard's. Their old one, if any, ends by itself."""
    person: Person | None = getattr(request, "signed_in", None)
    if person is None:
        return
    login = secrets.token_urlsafe(16)
    browser, client = request.headers.get("User-Agent", ""), request.META.get("REMOTE_ADDR", "")
    await in_db(store.sign_in, person.pk, login, browser, client)
    response.headers["Set-Cookie"] = request.scope["sign_in"](login)  # type: ignore[attr-defined]  # ASGI's


async def end_others(request: HttpRequest) -> None:
    """Somebody who knew the old password is out: every sign-in ends of the person who chose a new one with
    this request, but its own, with what it has open."""
    person: Person | None = getattr(request, "has_new_password", None)
    if person is None:
        return
    principal = request.scope["principal"] or {}  # type: ignore[attr-defined]  # ASGI's
    for login in await in_db(store.end_sign_ins, person, str(principal.get("session") or "")):
        await logins.end_by_id(login)

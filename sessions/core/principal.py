"""Who makes a request, as the guard has found out."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest

from sessions.core.roles import Person, Role, allowed


def actor(request: HttpRequest) -> str:
    """Who acts, for logs: the person; where a server has one login, its kind, and for a browser which. Empty
    where no guard stands before."""
    if person := person_of(request):
        return person.name
    principal = getattr(request, "scope", {}).get("principal") or {}
    kind = "browser" if principal.get("kind") == "cookie" else str(principal.get("kind") or "")
    login = str(principal.get("session") or "")[:6]
    return f"{kind} {login}".strip()


def person_of(request: HttpRequest) -> Person | None:
    """None where a server has one login, and for that login."""
    principal = getattr(request, "scope", {}).get("principal") or {}
    said = principal.get("person")
    return Person.of(said, settings.NODE) if said else None


def may(request: HttpRequest, need: Role, project: str | None = None) -> bool:
    """Whether who asks may do what takes `need`; one login may do everything."""
    person = person_of(request)
    return person is None or allowed(person, need, project)

"""Who makes a request, as the guard has found out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any, Protocol

from django.conf import settings
from django.http import HttpRequest

from sessions.core.roles import Person, Role, allowed

acting: ContextVar[str] = ContextVar("acting", default="")
"""The name of the person for whom something is done; empty where a server has one login."""


paying: ContextVar[str] = ContextVar("paying", default="")
"""In a turn, the name of the person whose it is; else whoever acts."""


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
    return person_in(getattr(request, "scope", {}))


def person_in(scope: Mapping[str, Any], node: str | None = None) -> Person | None:
    """The same of a socket, or as they are at another node."""
    said = (scope.get("principal") or {}).get("person")
    return Person.of(said, settings.NODE if node is None else node) if said else None


People = Callable[[str], Person | None]
"""Who has a name, as they are now; None for nobody who may come in. On the ORM's thread."""
_people: list[People] = []


def register(people: People) -> None:
    """How people are looked up by their names, where a server has some."""
    _people[:] = [people]


def named(name: str) -> Person | None:
    """See `People`."""
    return next((people(name) for people in _people), None)


def sees(person: Person | None, project: str) -> bool:
    """Whether lists show a project, and what is in it."""
    return person is None or allowed(person, Role.SEE, project)


class Reach(Protocol):
    """What of other pages is for who asks, where a server has people (`opencode_web.people.reach`)."""

    def may(self, name: str) -> bool:
        """Whether all is for them that the page of that name of a URL shows and does."""

    def address(self) -> str:
        """Of the style sheet that hides what is not."""


def reach(request: HttpRequest) -> Reach | None:
    """None where all is for whoever asks."""
    return getattr(request, "reach", None)


def may(request: HttpRequest, name: str) -> bool:
    """Whether all that the page of that name does is for who asks."""
    known = reach(request)
    return known is None or known.may(name)

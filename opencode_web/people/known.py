"""People as the guard asks for them, as rows have them now."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from hashlib import sha256
from typing import Any
from uuid import UUID

from django.conf import settings

from opencode_web.people import sockets
from opencode_web.people.models import Membership, Person, SignIn, Token
from opencode_web.site.security.people import Said
from opencode_web.site.security.request import Request
from sessions.core.db import in_db
from sessions.core.ids import now
from sessions.core.roles import Person as RolesOf
from sessions.core.roles import Role

_USED_MS = 60_000
"""How exact the time is at which a token was used last."""
_TOKEN, _PERSON = "token:", "person:"
"""Before what of a token is held open, and of a person whom a proxy names."""


class Known:
    """One of `opencode_web.site.security.people.People`."""

    async def signed_in(self, login: str) -> Said | None:
        return await in_db(_signed_in, login)

    async def with_token(self, token: str) -> tuple[str, Said] | None:
        return await in_db(_with_token, token) if token else None

    async def named(self, name: str) -> Said | None:
        return await in_db(_named, name)

    async def standing(self, names: Collection[str]) -> Mapping[str, Said | None]:
        return await in_db(_standing, names)

    async def may_open(self, person: Said, request: Request) -> bool:
        return await sockets.may_open(person, request)


def held(token: Token) -> str:
    """The name under which is held what a token has open."""
    return f"{_TOKEN}{token.pk}"


def digest(token: str) -> str:
    return sha256(token.encode(errors="replace")).hexdigest()


def _signed_in(login: str) -> Said | None:
    row = SignIn.objects.select_related("person").filter(id=login, person__is_active=True).first()
    return _said(row.person) if row else None


def _named(name: str) -> Said | None:
    person = Person.objects.filter(name=name, is_active=True).first()
    return _said(person) if person else None


def _with_token(token: str) -> tuple[str, Said] | None:
    row = Token.objects.select_related("person").filter(digest=digest(token), person__is_active=True).first()
    if row is None:
        return None
    if row.time_used is None or now() - row.time_used > _USED_MS:
        Token.objects.filter(pk=row.pk).update(time_used=now())
    return held(row), _said(row.person, Role(row.role))


def person(name: str) -> RolesOf | None:
    """One of `sessions.core.principal.People`."""
    said = _named(name)
    return RolesOf.of(said, settings.NODE) if said else None


def _standing(names: Collection[str]) -> dict[str, Said | None]:
    """In a few queries, however many they are."""
    tokens = [name.removeprefix(_TOKEN) for name in names if name.startswith(_TOKEN)]
    by_proxy = [name.removeprefix(_PERSON) for name in names if name.startswith(_PERSON)]
    found: dict[str, tuple[Person, Role]] = {}
    for row in SignIn.objects.filter(id__in=names).select_related("person"):
        found[row.id] = row.person, Role.ADMINISTER
    for token in Token.objects.filter(pk__in=tokens).select_related("person"):
        found[held(token)] = token.person, Role(token.role)
    for person in Person.objects.filter(pk__in=by_proxy):
        found[f"{_PERSON}{person.pk}"] = person, Role.ADMINISTER
    people = {person.pk for person, _ in found.values()}
    memberships: dict[UUID, list[Membership]] = {}
    for membership in Membership.objects.filter(person__in=people).select_related("person"):
        memberships.setdefault(membership.person.pk, []).append(membership)
    standing = {
        name: _said(person, most, memberships.get(person.pk, ()))
        for name, (person, most) in found.items()
        if person.is_active
    }
    return {name: standing.get(name) for name in names}


def _said(
    person: Person, most: Role = Role.ADMINISTER, memberships: Iterable[Membership] | None = None
) -> Said:
    """With no role above `most`."""
    rows = Membership.objects.filter(person=person) if memberships is None else memberships

    def least(role: str) -> str:
        return min(Role(role), most, key=lambda one: one.rank).value

    roles: dict[str, Any] = {f"{row.node}/{row.project}": least(row.role) for row in rows}
    return {"id": str(person.id), "name": person.name, "role": least(person.role), "roles": roles}

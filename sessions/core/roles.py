"""What a person of a team may do, in all projects or in one (docs/people.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import TextChoices
from django.utils.translation import pgettext_lazy


class Role(TextChoices):
    """Each may what those before it may."""

    NOTHING = "", pgettext_lazy("a role", "Nothing")
    SEE = "see", pgettext_lazy("a role", "See")
    ASK = "ask", pgettext_lazy("a role", "Ask")
    APPROVE = "approve", pgettext_lazy("a role", "Approve")
    ADMINISTER = "administer", pgettext_lazy("a role", "Administer")

    @property
    def rank(self) -> int:
        return list(Role).index(self)


@dataclass(frozen=True, slots=True)
class Person:
    """Who asks: `role` is the one in every project that `roles`, by id of a project, does not name."""

    id: str
    name: str
    role: Role
    roles: Mapping[str, Role] = field(default_factory=dict)

    @classmethod
    def of(cls, said: Mapping[str, Any], node: str) -> Person:
        """Of what the guard says, as it is at a node (an empty name: without nodes): `roles` there go by the
        node's name, a slash, and the id of the project."""
        places = ((place.partition("/"), role) for place, role in said["roles"].items())
        roles = {project: Role(role) for (there, _, project), role in places if there == node}
        return cls(said["id"], said["name"], Role(said["role"]), roles)


def allowed(person: Person, need: Role, project: str | None = None) -> bool:
    """Whether a person may do what takes `need` in a project; without one, in every project there is."""
    if project is not None:
        return person.roles.get(project, person.role).rank >= need.rank
    return all(role.rank >= need.rank for role in (person.role, *person.roles.values()))

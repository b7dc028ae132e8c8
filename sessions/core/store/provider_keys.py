"""Keys of providers that people add for their own turns, and for all turns of a project; where a server has
people."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from django.db.models import Q

from sessions.core.ids import now
from sessions.core.models import Message, Payment, ProviderKey
from sessions.core.sealing import Unreadable, seal, unseal

logger = logging.getLogger(__name__)

_SEEN = 12
"""Characters that a key must have before its last four are shown."""


@dataclass(frozen=True, slots=True)
class Key:
    """`whose` is said to people who ask who pays."""

    key: str = field(repr=False)
    whose: str


def put(provider: str, key: str, *, person: str = "", project: str = "") -> None:
    """In place of the one there is. `person` or `project` is whose."""
    ending = key[-4:] if len(key) >= _SEEN else ""
    given = {"sealed": seal(key), "ending": ending, "time_created": now()}
    ProviderKey.objects.update_or_create(person=person, project=project, provider=provider, defaults=given)


def remove(id: str, *, person: str = "", project: str = "") -> None:
    """Nothing happens where they have none of that id."""
    if id.isdecimal():
        ProviderKey.objects.filter(id=id, person=person, project=project).delete()


def listed(*, person: str = "", project: str = "") -> list[ProviderKey]:
    if not (person or project):
        return []
    return list(ProviderKey.objects.filter(person=person, project=project).order_by("provider"))


def in_force(person: str, project: str) -> dict[str, Key]:
    """By provider the key for a turn of a person in a project: their own before the project's. One that
    cannot be read any more is logged and passed over."""
    own, shared = Q(person=person, project=""), Q(person="", project=project)
    wanted = (own if person else Q(pk=None)) | (shared if project else Q(pk=None))
    found: dict[str, Key] = {}
    for row in ProviderKey.objects.filter(wanted).order_by("person"):
        try:
            key = unseal(row.sealed)
        except Unreadable as error:
            logger.error(
                "the key of %s of %s is left out: %s", row.provider, row.person or row.project, error
            )
            continue
        found[row.provider] = Key(key, f"{row.person}’s key" if row.person else "the project’s key")
    return found


def paid(message_id: str, whose: str) -> None:
    """That an answer was paid by a key of these."""
    if Message.objects.filter(id=message_id).exists():
        Payment.objects.update_or_create(message_id=message_id, defaults={"whose": whose})


def payers(session_id: str) -> dict[str, str]:
    """By answers of a session, whose key paid; those of the installation are left out."""
    return dict(Payment.objects.filter(message__session_id=session_id).values_list("message_id", "whose"))

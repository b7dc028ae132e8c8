"""The keys that the person chose. Every change tells the open pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db import transaction

from sessions.core import bus
from sessions.core.models import ChosenKeys

CHANGED = "keys.changed"


def chosen() -> dict[str, tuple[str, ...]]:
    """By name; what is not in it was not chosen."""
    return {row.name: tuple(row.keys) for row in ChosenKeys.objects.order_by("name")}


@transaction.atomic
def choose(keys: Mapping[str, Sequence[str]]) -> None:
    """From now on these for each of the names, which may be none."""
    for name, alternatives in keys.items():
        ChosenKeys.objects.update_or_create(name=name, defaults={"keys": list(alternatives)})
    _tell()


@transaction.atomic
def reset(name: str = "") -> None:
    """As if nothing had been chosen for this name, or without one for any."""
    rows = ChosenKeys.objects.filter(name=name) if name else ChosenKeys.objects.all()
    rows.delete()
    _tell()


def _tell() -> None:
    transaction.on_commit(lambda: bus.publish(bus.Event(CHANGED, {})))

"""The nodes of a team: who joins, lives and has gone. Times are the database's, in ms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import connections, transaction
from django.db.models import BooleanField, ExpressionWrapper, F, Q, Value

import opencode_web
from opencode_web.nodes.models import Node, Workspace
from opencode_web.team import ALIAS, schema_of
from sessions.core.ids import now
from sessions.core.store.leases import Clock

LOST_MS = 6_000
"""After so long without a beat a node counts as gone."""


@dataclass(frozen=True, slots=True)
class Membership:
    """This process as a node."""

    name: str
    start: int


def join(name: str, address: str) -> Membership:
    """Take part from here on, in place of an earlier start of this node. The connection is closed: beats have
    one of their own, and connections are what a large team runs out of early (docs/scale.md)."""
    known = {"address": address, "version": opencode_web.__version__, "seen": Clock()}
    try:
        with transaction.atomic(using=ALIAS):
            Node.objects.get_or_create(name=name, defaults={"time_joined": now()})
            Node.objects.filter(name=name).update(start=F("start") + 1, **known)
            return Membership(name, Node.objects.get(name=name).start)
    finally:
        connections[ALIAS].close()


def beat(member: Membership, load: Mapping[str, int]) -> bool:
    """Say that this node lives, and what it does. False where another start of it has taken its place. Beats
    wait for no other's: one after the other there is room for five hundred a second."""
    row = Node.objects.filter(name=member.name, start=member.start)
    with connections[ALIAS].beside_writers():  # type: ignore[attr-defined]  # our own backend's
        return bool(row.update(seen=Clock(), load=dict(load)))


def leave(member: Membership) -> None:
    """It ends in order: nobody has to wait for its beat."""
    Node.objects.filter(name=member.name, start=member.start).update(seen=0)


def nodes() -> list[Any]:
    """All of them by name, with whether each `lives`."""
    recent = ExpressionWrapper(Q(seen__gt=Clock() - Value(LOST_MS)), output_field=BooleanField())
    return list(Node.objects.annotate(lives=recent).order_by("name"))


def drain(name: str, *, draining: bool) -> bool:
    """Have no turn begin at a node from here on, or let them begin again. False where there is none of this
    name."""
    return bool(Node.objects.filter(name=name).update(draining=draining))


def forget(name: str) -> bool:
    """Let go of one that does not come back, so that another machine may have its name. Its rows stay, in a
    schema put aside; False where no machine of this name is away."""
    aside = f"opencode_old_{name.replace('-', '_')[:30]}_{now()}"
    with transaction.atomic(using=ALIAS), connections[ALIAS].cursor() as cursor:
        if name not in {node.name for node in nodes() if not node.lives}:
            return False
        Node.objects.filter(name=name).delete()
        Workspace.objects.filter(node=name).delete()
        cursor.execute(f"ALTER SCHEMA {schema_of(name)} RENAME TO {aside}")
    return True

"""The nodes of a team: who joins, lives and has gone. Times are the database's, in ms."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import BooleanField, ExpressionWrapper, Q, Value

import opencode_web
from opencode_web.nodes.models import Node
from opencode_web.team import ALIAS, Taken
from sessions.core import paths
from sessions.core.files import PRIVATE, create_file
from sessions.core.ids import now
from sessions.core.store.leases import Clock

LOST_MS = 6_000
"""After so long without a beat a node counts as gone."""


@dataclass(frozen=True, slots=True)
class Membership:
    """This process as a node."""

    name: str
    start: int


def identity() -> str:
    """That of the data folder, made at the first call: what rows are about lies there."""
    file = paths.data_directory() / "node"
    try:
        return file.read_text().strip()
    except FileNotFoundError:
        create_file(file, secrets.token_hex(16).encode(), PRIVATE)
        return file.read_text().strip()


def join(name: str, address: str) -> Membership:
    """Take part from here on, in place of an earlier start of this node. Raises Taken."""
    mine = identity()
    with transaction.atomic(using=ALIAS):
        row = Node.objects.select_for_update().filter(name=name).first()
        if row is None:
            row = Node(name=name, identity=mine, time_joined=now())
        if row.identity != mine:
            raise Taken(
                f"{name} is the name of a node at {row.address}, which has another data folder: choose "
                f"another one, or let that one go by `opencode-web node forget {name}`"
            )
        row.address, row.version = address, opencode_web.__version__
        row.start += 1
        row.save()
        Node.objects.filter(name=name).update(seen=Clock())
    return Membership(name, row.start)


def beat(member: Membership, load: Mapping[str, int]) -> bool:
    """Say that this node lives, and what it does. False where another start of it has taken its place."""
    row = Node.objects.filter(name=member.name, start=member.start)
    return bool(row.update(seen=Clock(), load=dict(load)))


def leave(member: Membership) -> None:
    """It ends in order: nobody has to wait for its beat."""
    Node.objects.filter(name=member.name, start=member.start).update(seen=0)


def nodes() -> list[Any]:
    """All of them by name, with whether each `lives`."""
    recent = ExpressionWrapper(Q(seen__gt=Clock() - Value(LOST_MS)), output_field=BooleanField())
    return list(Node.objects.annotate(lives=recent).order_by("name"))


def forget(name: str) -> bool:
    """Let go of one that does not come back. Its rows stay, for whoever asks for them; False where there is
    none of this name."""
    return bool(Node.objects.filter(name=name).delete()[0])

"""Which sessions of a project hold how much of its store, so that a person can say what may go."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from sessions.models import FileChange, Session
from sessions.snapshots.packs import Packs
from sessions.snapshots.sweep import loose_objects

_MOST = 20


@dataclass(frozen=True, slots=True)
class Holding:
    """`size` is what the contents take that the session's changes name, in bytes on the disk; what several
    sessions name counts for each."""

    session: Session
    size: int


def addresses_by_session(project_id: str) -> dict[str, set[str]]:
    """What the ledger names, by session; runs on the ORM's thread."""
    found: dict[str, set[str]] = defaultdict(set)
    rows = FileChange.objects.filter(project_id=project_id).values_list("session_id", "before", "after")
    for session_id, before, after in rows.iterator():
        found[session_id].update((before, after))
    return found


def largest(project_id: str, named: dict[str, set[str]]) -> list[tuple[str, int]]:
    """Sessions with their sizes, the largest first; reads the store's folder."""
    sizes = _object_sizes(Path(settings.SNAPSHOT_DIR) / project_id)
    held = ((session_id, sum(sizes.get(oid, 0) for oid in oids)) for session_id, oids in named.items())
    return sorted(held, key=lambda entry: -entry[1])[:_MOST]


def holdings(held: list[tuple[str, int]]) -> list[Holding]:
    """The same with the sessions' rows; runs on the ORM's thread."""
    rows = Session.objects.in_bulk([session_id for session_id, _ in held])
    return [Holding(rows[session_id], size) for session_id, size in held if session_id in rows]


def _object_sizes(root: Path) -> dict[str, int]:
    sizes = {item.oid: item.size for item in loose_objects(root)}
    for pack in Packs(root / "objects" / "pack").all():
        sizes |= pack.sizes()
    return sizes

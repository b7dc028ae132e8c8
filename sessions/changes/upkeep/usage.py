"""How much the stores take on the disk, and whether that is more than they may.

A file beside the stores (`FULL_MARK`) says to every process that they hold more than the quota.
"""

from __future__ import annotations

import os
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from sessions.changes.snapshots.objects import Packs
from sessions.changes.snapshots.snapshot import FULL_MARK
from sessions.changes.snapshots.sweep import BLOCK, loose_objects
from sessions.core.models import FileChange, Session


@dataclass(frozen=True, slots=True)
class Usage:
    """One store: bytes on the disk, objects in it, and how many of them are not in packs."""

    size: int = 0
    objects: int = 0
    loose: int = 0


def measure(root: Path) -> Usage:
    """What the store in this folder takes; milliseconds, as it has few files when it is tended."""
    size = 0
    for folder, _, names in os.walk(root):
        for name in (*names, "."):
            with suppress(FileNotFoundError):
                size += os.lstat(os.path.join(folder, name)).st_blocks * BLOCK
    loose = sum(1 for _ in loose_objects(root))
    return Usage(size, loose + sum(pack.count for pack in Packs(root / "objects" / "pack").all()), loose)


def stores() -> list[Path]:
    """The folders of all stores, each named by its project."""
    place = Path(settings.SNAPSHOT_DIR)
    return sorted(path.parent for path in place.glob("*/objects")) if place.is_dir() else []


def full_mark() -> Path:
    """The file that is there while the stores are over their quota."""
    return Path(settings.SNAPSHOT_DIR) / FULL_MARK


def is_full() -> bool:
    return full_mark().exists()


def settle(total: int) -> bool:
    """Write down whether the stores with `total` bytes are over the quota; whether they are."""
    full = total > settings.STORE_QUOTA
    if full:
        full_mark().touch()
    else:
        full_mark().unlink(missing_ok=True)
    return full


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

"""How much the stores take on the disk, and whether that is more than they may.

A file beside the stores (`FULL_MARK`) says to every process that they hold more than the quota.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from sessions.snapshots.packs import Packs
from sessions.snapshots.snapshot import FULL_MARK
from sessions.snapshots.sweep import BLOCK, loose_objects


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

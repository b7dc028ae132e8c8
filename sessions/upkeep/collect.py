"""Collect the garbage of a project's store: what rows can reach stays, what nothing reaches goes."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from sessions.db import in_db
from sessions.models import Project
from sessions.snapshots.git import GitError
from sessions.snapshots.repack import Stopped
from sessions.snapshots.snapshot import SnapshotStore
from sessions.snapshots.sweep import GRACE_SECONDS, Sweep
from sessions.tracking import tracker

from . import damage
from .roots import named
from .usage import Usage, measure

logger = logging.getLogger(__name__)

_MARK = "collected"


@dataclass(frozen=True, slots=True)
class Collected:
    """`before` and `after` are what the store took; `removed` how many objects went."""

    before: Usage
    after: Usage
    removed: int


async def collect(project: Project, stop: Callable[[], bool], *, grace: float = GRACE_SECONDS) -> Collected:
    """`grace` is how old, in seconds, what nobody names must be to go. Where it fails or is stopped, what was
    not yet removed is left for the next time. Nothing goes while a damaged database lies there, which may
    name it."""
    if damage.files():
        usage = await asyncio.to_thread(measure, Path(settings.SNAPSHOT_DIR) / project.id)
        return Collected(usage, usage, 0)
    store = (await asyncio.to_thread(tracker, project)).store
    rows = await in_db(named, project.id)
    return await asyncio.to_thread(_sweep, store, Sweep(store, rows, stop, grace))


def last_collected(root: Path) -> float:
    """Seconds since the store was collected, or made when it never was, by a clock that may be moved."""
    mark = root / _MARK
    return abs(time.time() - (mark if mark.exists() else root / "config").stat().st_mtime)


def _sweep(store: SnapshotStore, sweep: Sweep) -> Collected:
    before, removed = measure(store.root), 0
    try:
        removed = sweep.run()
        (store.root / _MARK).touch()
    except Stopped:
        logger.debug("the collection of %s was stopped", store.root)
    except (GitError, OSError) as error:
        logger.warning("the store %s could not be collected: %s", store.root, error)
    return Collected(before, measure(store.root), removed)

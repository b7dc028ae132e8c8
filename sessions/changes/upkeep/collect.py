"""Collect the garbage of a project's store: what rows can reach stays, what nothing reaches goes."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import Q

from sessions.changes.snapshots.repack import Stopped
from sessions.changes.snapshots.snapshot import SnapshotStore
from sessions.changes.snapshots.sweep import GRACE_SECONDS, Sweep
from sessions.changes.tracking import tracker
from sessions.core.db import in_db
from sessions.core.git import GitError
from sessions.core.models import FileChange, Operation, PermissionRequest, Project, StagedFile

from . import damage
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


_ADDRESS = re.compile(r"\b[0-9a-f]{40}\b")


def named(project_id: str) -> set[str]:
    """The addresses that rows name, of sessions deleted as well as long as these can be restored; runs on
    the ORM's thread. A project and the worktrees made from it may name each other's.

    Contents wander from requests to staged edits to the ledger: read in this order, none is missed.
    """
    projects = _family(project_id)
    found: set[str] = set()
    asked = PermissionRequest.objects.filter(session__project_id__in=projects, state="pending")
    found |= _anywhere(asked.values_list("metadata", "replacement"))
    staged = StagedFile.objects.filter(session__project_id__in=projects)
    for row in staged.values_list("base", "content").iterator():
        found.update(row)
    operations = Operation.objects.filter(project_id__in=projects)
    found |= _anywhere(operations.values_list("outcome", "hunks", "scope").iterator())
    changes = FileChange.objects.filter(project_id__in=projects)
    for row in changes.values_list("before", "after").iterator():
        found.update(row)
    return found - {""}


def _family(project_id: str) -> set[str]:
    parents = Project.objects.filter(id=project_id).exclude(worktree_of=None)
    heads = {project_id, *parents.values_list("worktree_of_id", flat=True)}
    kin = Project.objects.filter(Q(id__in=heads) | Q(worktree_of_id__in=heads))
    return {project_id, *kin.values_list("id", flat=True)}


def _anywhere(rows: Iterable[tuple[Any, ...]]) -> set[str]:
    """Whatever looks like an address in columns of JSON: too much costs room, too little a content."""
    return {oid for row in rows for oid in _ADDRESS.findall(json.dumps(row))}

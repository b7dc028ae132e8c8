"""The garbage of the stores: what rows can reach stays, what nothing reaches goes.

It is collected at the start, by the hour, and after a turn that left many loose objects.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from sessions.changes.snapshots.repack import PACK_FROM, Stopped
from sessions.changes.snapshots.snapshot import SnapshotStore
from sessions.changes.snapshots.sweep import GRACE_SECONDS, Sweep
from sessions.changes.tracking import tracker
from sessions.changes.upkeep import copies, damage
from sessions.changes.upkeep.usage import Usage, is_full, measure, settle, stores
from sessions.core.db import in_db
from sessions.core.git import GitError
from sessions.core.models import FileChange, Operation, PermissionRequest, Project, Session, StagedFile
from sessions.core.store import events, projects
from sessions.core.store.operations import STAGED

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

    Contents wander from requests to staged edits to the ledger: read in this order, none is missed. A verdict
    on what is staged may be on files beside its session's project.
    """
    projects = _family(project_id)
    found: set[str] = set()
    asked = PermissionRequest.objects.filter(session__project_id__in=projects, state="pending")
    found |= addresses(asked.values_list("metadata", "replacement"))
    staged = StagedFile.objects.filter(project_id__in=projects)
    for row in staged.values_list("base", "content").iterator():
        found.update(row)
    operations = Operation.objects.filter(Q(project_id__in=projects) | Q(kind__in=STAGED))
    found |= addresses(operations.values_list("outcome", "hunks", "scope").iterator())
    changes = FileChange.objects.filter(project_id__in=projects)
    for row in changes.values_list("before", "after").iterator():
        found.update(row)
    return found - {""}


def _family(project_id: str) -> set[str]:
    parents = Project.objects.filter(id=project_id).exclude(worktree_of=None)
    heads = {project_id, *parents.values_list("worktree_of_id", flat=True)}
    kin = Project.objects.filter(Q(id__in=heads) | Q(worktree_of_id__in=heads))
    return {project_id, *kin.values_list("id", flat=True)}


def addresses(rows: Iterable[tuple[Any, ...]]) -> set[str]:
    """Whatever looks like an address in columns of JSON: too much costs room, too little a content."""
    return {oid for row in rows for oid in _ADDRESS.findall(json.dumps(row))}


_TURN_SECONDS = 60.0
"""At most so often a store is looked at after turns."""
_QUIET_SECONDS = 10.0
"""A collection waits so long after a turn: the next prompt often comes at once, and wants the machine."""
_ROUND_SECONDS = 3600.0


class Caretaker:
    """One a process. Sizes are kept from the last look at each store, so the total costs one store."""

    def __init__(self) -> None:
        self._sizes: dict[str, Usage] = {}
        self._looked: dict[str, float] = {}
        self._stopped = threading.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    def turn_ended(self, session: Session) -> None:
        """Look after the project's store in the background; from the loop of the turns."""
        moment, project_id = time.monotonic(), session.project_id
        if moment - self._looked.get(project_id, -_TURN_SECONDS) < _TURN_SECONDS:
            return
        self._looked[project_id] = moment
        task = asyncio.create_task(self._after_turn(session))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def rounds(self) -> None:
        """All stores, one after the other; at the start, when others want the machine, only their sizes."""
        stopped = self._stopped
        if not self._sizes:
            await self.measure_all()
            return
        for root in await asyncio.to_thread(stores):
            project = await in_db(projects.get, root.name)
            if project is None:
                self._sizes[root.name] = await asyncio.to_thread(measure, root)
            elif not stopped.is_set() and await self._is_due(project):
                await self._collect(project)

    async def clean(self) -> list[Collected]:
        """Collect every store now, whether it is due or not."""
        done = []
        for root in await asyncio.to_thread(stores):
            project = await in_db(projects.get, root.name)
            if project is not None:
                done.append(await self._collect(project))
        return done

    def stop(self) -> None:
        """The turns end, and the process with them: what is under way stops at its next safe point."""
        self._stopped.set()
        self._stopped = threading.Event()
        for task in self._tasks:
            task.cancel()

    @property
    def sizes(self) -> dict[str, Usage]:
        """What each store took when it was last looked at, by its project."""
        return dict(self._sizes)

    async def measure_all(self) -> dict[str, Usage]:
        """The same, looked at now."""
        self._sizes = await asyncio.to_thread(lambda: {root.name: measure(root) for root in stores()})
        settle(self._total())
        return self.sizes

    async def _after_turn(self, session: Session) -> None:
        was = is_full()
        if await self._is_due(session.project):
            await self._say_if_full(session, was)
            was = is_full()
            await asyncio.sleep(_QUIET_SECONDS)
            await self._collect(session.project)
        await self._say_if_full(session, was)

    async def _say_if_full(self, session: Session, was: bool) -> None:
        if is_full() != was:
            await in_db(_announce, session)

    async def _is_due(self, project: Project) -> bool:
        """Measures the store; whether there is much to pack, it is long ago, or the stores are full."""
        if not self._sizes:
            await self.measure_all()
        root = Path(settings.SNAPSHOT_DIR) / project.id
        if not root.exists():
            return False
        usage = self._sizes[project.id] = await asyncio.to_thread(measure, root)
        old = last_collected(root) > _ROUND_SECONDS
        return settle(self._total()) or old or usage.loose >= PACK_FROM

    async def _collect(self, project: Project) -> Collected:
        done = await collect(project, self._stopped.is_set)
        self._sizes[project.id] = done.after
        settle(self._total())
        return done

    def _total(self) -> int:
        return sum(usage.size for usage in self._sizes.values()) + copies.size()


@transaction.atomic
def _announce(session: Session) -> None:
    """The pages say that the store is full, or no longer."""
    properties = {"sessionID": session.id}
    events.record("store.full", properties, project=session.project_id, session=session.id)


caretaker = Caretaker()

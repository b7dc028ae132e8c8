"""When stores are collected: at the start, by the hour, and after a turn that left many loose objects."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path

from django.conf import settings
from django.db import transaction

from sessions.changes.snapshots.repack import PACK_FROM
from sessions.core.db import in_db
from sessions.core.models import Project, Session
from sessions.core.store import events, projects

from . import copies
from .collect import Collected, collect, last_collected
from .usage import Usage, is_full, measure, settle, stores

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

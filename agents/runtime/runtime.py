"""The turns' own thread: one event loop on which every drain of this process runs (design law 10)."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import socket
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from agents.catalog import warm_up
from agents.runtime import approvals, housekeeping, recovery, summaries
from agents.runtime.drain import drain
from agents.runtime.run import Run
from sessions.db import in_db
from sessions.ids import now
from sessions.models import Session
from sessions.review.recovery import recover as finish_undos
from sessions.store import inbox
from sessions.store import sessions as session_store
from sessions.tracking import tracker

logger = logging.getLogger(__name__)

LEASE_MS = 15_000
HEARTBEAT_SECONDS = 5.0


@dataclass(slots=True)
class _Drain:
    task: asyncio.Task[None] | None = None
    run: Run | None = None
    again: bool = False
    stopping: bool = False


class Runtime:
    """Methods without a leading underscore may be called from any thread."""

    def __init__(self) -> None:
        self.owner = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._drains: dict[str, _Drain] = {}
        self._heartbeat: asyncio.Task[None] | None = None
        self._closing = False

    def start(self) -> None:
        """Start the thread, settle what a dead worker left, and take up prompts that wait."""
        loop = self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=loop.run_forever, name="turns", daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), loop)

    async def stop(self) -> None:
        """Interrupt every turn with its partial output saved; awaited from the server's loop."""
        if self._loop is None:
            return
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._stop(), self._loop))
        self._loop.call_soon_threadsafe(self._loop.stop)

    def wake(self, session_id: str) -> None:
        self._call(self._wake, session_id)

    def interrupt(self, session_id: str) -> None:
        self._call(self._interrupt, session_id)

    def answered(self, request_id: str) -> None:
        self._call(approvals.answered, request_id)

    def _call(self, function: Any, argument: str) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(function, argument)

    async def _start(self) -> None:
        await finish_undos()
        for session in await in_db(session_store.leased):
            if _is_dead(session.lease_owner):
                await self._take_over(session)
        self._heartbeat = asyncio.create_task(self._beat())
        await asyncio.to_thread(housekeeping.expire_outputs)
        await in_db(housekeeping.prune_rows)
        if settings.OPENED_DIRECTORY:
            await warm_up(Path(settings.OPENED_DIRECTORY))

    async def _beat(self) -> None:
        """Keep our leases, take over those that nobody keeps, and take up prompts whose hint was lost."""
        while True:
            await in_db(session_store.renew, self.owner, now() + LEASE_MS)
            for session in await in_db(session_store.leased):
                if session.lease_until < now():
                    await self._take_over(session)
            for session_id in await in_db(inbox.sessions_waiting):
                self._wake(session_id)
            await asyncio.sleep(HEARTBEAT_SECONDS)

    async def _take_over(self, session: Session) -> None:
        """Settle the turn of a worker that is gone and go on with what waits."""
        if await in_db(session_store.seize, session, self.owner, now() + LEASE_MS):
            await in_db(recovery.settle, session.id, recovery.CRASHED)
            await summaries.summarise(session)
            await in_db(session_store.release, session.id, self.owner)
            self._wake(session.id)

    def _wake(self, session_id: str) -> None:
        if self._closing:
            return
        if session_id in self._drains:
            self._drains[session_id].again = True
            return
        entry = self._drains[session_id] = _Drain()
        entry.task = asyncio.create_task(self._run(session_id, entry))

    def _interrupt(self, session_id: str) -> None:
        entry = self._drains.get(session_id)
        if entry is None or entry.task is None or entry.stopping:
            return
        entry.stopping = True
        if entry.run is not None:
            entry.run.abort.set()
        entry.task.cancel()

    async def _run(self, session_id: str, entry: _Drain) -> None:
        """Drain under the session's lease. What came in meanwhile, or waited at a stop, goes next."""
        try:
            if await in_db(session_store.claim, session_id, self.owner, now() + LEASE_MS):
                await self._drain(session_id, entry)
            go_on = entry.again
        except asyncio.CancelledError:
            await self._settle(session_id, entry, recovery.STOPPED)
            go_on = bool(await in_db(inbox.waiting, session_id))
        except Exception:
            logger.exception("the turn of session %s ended in an error of ours", session_id)
            await self._settle(session_id, entry, recovery.FAILED)
            go_on = False  # the heartbeat tries what still waits, so an error cannot spin
        await in_db(session_store.release, session_id, self.owner)
        del self._drains[session_id]
        if go_on:
            self._wake(session_id)

    async def _drain(self, session_id: str, entry: _Drain) -> None:
        session = await in_db(session_store.get, session_id)
        if session is None:
            return
        entry.run = Run(session, await asyncio.to_thread(tracker, session.project))
        await drain(entry.run)

    async def _settle(self, session_id: str, entry: _Drain, ending: recovery.Ending) -> None:
        entry.stopping = True
        for task in list(entry.run.background) if entry.run else []:
            task.cancel()
        await in_db(recovery.settle, session_id, ending)
        if entry.run is not None:
            await summaries.summarise(entry.run.session)

    async def _stop(self) -> None:
        self._closing = True
        if self._heartbeat is not None:
            self._heartbeat.cancel()
        tasks = [entry.task for entry in self._drains.values() if entry.task is not None]
        for session_id in list(self._drains):
            self._interrupt(session_id)
        await asyncio.gather(*tasks, return_exceptions=True)


def _is_dead(owner: str) -> bool:
    """Whether a worker of this machine is gone; of another machine only its lease can tell."""
    host, pid, _ = owner.rsplit(":", 2)
    if host != socket.gethostname():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return int(pid) == os.getpid()


runtime = Runtime()

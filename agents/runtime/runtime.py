"""The turns' own thread: one event loop on which every drain of this process runs (design law 10)."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import socket
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from agents.catalog import warm_up
from agents.custom_tools import contribute
from agents.mcp.hub import hub
from agents.mcp.offered import register as mcp
from agents.plugins import terminals
from agents.runtime import boundary, housekeeping, recovery, resumption, summaries
from agents.runtime.attachments import files as attached_files
from agents.runtime.calls import approvals, questions
from agents.runtime.drain import drain
from agents.runtime.run import Children, Run
from agents.runtime.steps.transcript import Transcript
from agents.tools import lsp
from sessions.db import in_db
from sessions.ids import now
from sessions.models import Session
from sessions.store import inbox, turns
from sessions.store import sessions as session_store
from sessions.tracking import tracker
from sessions.upkeep.caretaker import caretaker
from sessions.wire.messages import UserMessage

logger = logging.getLogger(__name__)

LEASE_MS = int(settings.LEASE_SECONDS * 1000)
HEARTBEAT_SECONDS = settings.LEASE_SECONDS / 3
HOUSEKEEPING_SECONDS = 3600.0
SWITCH_SECONDS = 0.001
"""How long a thread may keep Python's lock from the others. A delta changes threads on its way, and a turn's
start is busy for longer than the usual 5 ms: this halves the delta's p95."""


@dataclass(slots=True)
class _Drain:
    """`turn` may be cancelled at any moment; `task` waits for it and cleans up."""

    turn: asyncio.Task[bool] | None = None
    task: asyncio.Task[None] | None = None
    run: Run | None = None
    unanswered: UserMessage | None = None
    stopping: bool = False


class Runtime:
    """Methods without a leading underscore may be called from any thread."""

    def __init__(self) -> None:
        self.owner = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._drains: dict[str, _Drain] = {}
        self._heartbeat: asyncio.Task[None] | None = None
        self._housekeeping: asyncio.Task[None] | None = None
        self._closing = False

    def start(self) -> None:
        """Start the thread, settle what a dead worker left, and take up prompts that wait."""
        sys.setswitchinterval(SWITCH_SECONDS)
        contribute.register()
        mcp.register()
        attached_files.register()
        lsp.register()
        loop = self._loop = asyncio.new_event_loop()
        terminals.register(loop)
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
        self._call(approvals.look_again)
        self._call(questions.answered, request_id)

    def _call(self, function: Any, *arguments: str) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(function, *arguments)

    async def _start(self) -> None:
        for session in await in_db(session_store.leased):
            if _is_dead(session.lease_owner):
                await self._take_over(session)
        self._heartbeat = asyncio.create_task(self._beat())
        self._housekeeping = asyncio.create_task(self._keep_house())
        if settings.OPENED_DIRECTORY:
            hub.warm(Path(settings.OPENED_DIRECTORY))
            await warm_up(Path(settings.OPENED_DIRECTORY))

    async def _keep_house(self) -> None:
        """At once and then by the hour, as a server may run for weeks."""
        while True:
            try:
                await asyncio.to_thread(housekeeping.expire_outputs)
                await in_db(housekeeping.prune_rows)
                await caretaker.rounds()
            except Exception:
                logger.exception("the housekeeping failed")
            await asyncio.sleep(HOUSEKEEPING_SECONDS)

    async def _beat(self) -> None:
        while True:
            try:
                await self._tend()
            except Exception:
                logger.exception("a heartbeat failed")
            await asyncio.sleep(HEARTBEAT_SECONDS)

    async def _tend(self) -> None:
        """Keep our leases, take over those that nobody keeps, and do what lost hints would have told."""
        await in_db(session_store.renew, self.owner, now() + LEASE_MS)
        approvals.look_again()
        questions.look_again()
        leased = await in_db(session_store.leased)
        self._stop_all_but({session.id for session in leased if session.lease_owner == self.owner})
        for session in leased:
            if session.lease_until < now():
                await self._take_over(session)
        for session_id in [*await in_db(inbox.sessions_waiting), *await resumption.sessions_due()]:
            self._wake(session_id)

    def _stop_all_but(self, held: set[str]) -> None:
        """After a long sleep of the machine another worker may have taken over a turn of ours."""
        for session_id, entry in list(self._drains.items()):
            if entry.run is not None and session_id not in held:
                self._interrupt(session_id)

    async def _take_over(self, session: Session) -> None:
        """Settle the turn of a worker that is gone and go on with what waits."""
        if await in_db(session_store.seize, session, self.owner, now() + LEASE_MS):
            await in_db(recovery.settle, session.id, recovery.CRASHED)
            await summaries.summarise(session)
            unanswered = await in_db(turns.unanswered, session.id)
            await in_db(session_store.release, session.id, self.owner)
            self._wake(session.id, unanswered)

    def _wake(self, session_id: str, unanswered: UserMessage | None = None) -> None:
        """`unanswered` is a prompt that was promoted by a worker which died before it began to answer."""
        if self._closing or session_id in self._drains:
            return
        entry = self._drains[session_id] = _Drain(unanswered=unanswered)
        entry.turn = asyncio.create_task(self._drain(session_id, entry))
        entry.task = asyncio.create_task(self._run(session_id, entry))

    def _interrupt(self, session_id: str) -> None:
        entry = self._drains.get(session_id)
        if entry is None or entry.turn is None or entry.stopping:
            return
        entry.stopping = True
        if entry.run is not None:
            entry.run.abort.set()
        entry.turn.cancel()

    async def _run(self, session_id: str, entry: _Drain) -> None:
        """Whatever ends the turn, settle it and give back the lease. What waits then goes next."""
        assert entry.turn is not None
        await asyncio.wait([entry.turn])
        if entry.turn.cancelled():
            await self._settle(session_id, entry, recovery.CRASHED if self._closing else recovery.STOPPED)
            go_on = True
        elif error := entry.turn.exception():
            logger.error("the turn of session %s ended in an error of ours", session_id, exc_info=error)
            await self._settle(session_id, entry, recovery.FAILED)
            go_on = False  # the heartbeat tries what still waits, so an error cannot spin
        else:
            go_on = entry.turn.result()
        await in_db(session_store.release, session_id, self.owner)
        if entry.run is not None:
            caretaker.turn_ended(entry.run.session)
        del self._drains[session_id]
        if go_on and await boundary.has_work(session_id):
            self._wake(session_id)

    async def _drain(self, session_id: str, entry: _Drain) -> bool:
        """Drain under the session's lease; whether there was one to be had."""
        if not await in_db(session_store.claim, session_id, self.owner, now() + LEASE_MS):
            return False
        session = await in_db(session_store.get, session_id)
        if session is not None:
            hub.warm(Path(session.directory))
            entry.run = Run(
                session,
                await asyncio.to_thread(tracker, session.project),
                Children(self._run_child, self._interrupt),
                Transcript(session_id),
                unanswered=entry.unanswered,
            )
            await drain(entry.run)
        return True

    async def _run_child(self, session_id: str) -> None:
        """Drain a session from within another one's turn."""
        self._wake(session_id)
        entry = self._drains.get(session_id)
        if entry is not None and entry.task is not None:
            await asyncio.shield(entry.task)

    async def _settle(self, session_id: str, entry: _Drain, ending: recovery.Ending) -> None:
        entry.stopping = True
        for task in list(entry.run.background) if entry.run else []:
            task.cancel()
        if not await in_db(session_store.holds, session_id, self.owner):
            return  # an interrupt goes to all workers, and a lease may be lost: the rows are another's
        await in_db(recovery.settle, session_id, ending)
        if entry.run is not None:
            await summaries.summarise(entry.run.session)

    async def _stop(self) -> None:
        self._closing = True
        caretaker.stop()
        for chore in (self._heartbeat, self._housekeeping):
            if chore is not None:
                chore.cancel()
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

"""The turns' own thread: one event loop on which every drain of this process runs."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import Context
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from django.conf import settings

from agents.agent import recovery, resumption, summaries
from agents.agent.attachments import files as attached_files
from agents.agent.calls import approvals, questions
from agents.agent.comparisons.beginning import begin_waiting
from agents.agent.drain import drain, finished
from agents.agent.offered import register as mcp
from agents.agent.run import Children, Run
from agents.agent.steps.history import Transcripts
from agents.plugins import hooks
from agents.servers.browser import service as browsers
from agents.servers.mcp.hub import hub
from agents.toolkit import scratch
from agents.toolkit.catalog import warm_up
from agents.toolkit.sandbox import door, probe
from agents.toolkit.shared.output import expire
from agents.tools import browser, custom, lsp
from sessions.changes.tracking import tracker
from sessions.changes.upkeep.caretaker import caretaker
from sessions.changes.upkeep.copies import Copier
from sessions.core import files, gate, retention, workers
from sessions.core.db import in_db
from sessions.core.fence import Lease, LeaseLost, fenced
from sessions.core.models import Session
from sessions.core.store import (
    events,
    inbox,
    leases,
    ledger,
    line,
    permissions,
    problems,
    pursuits,
    quotas,
    schedules,
)
from sessions.core.store import sessions as session_store

logger = logging.getLogger(__name__)

T = TypeVar("T")

HEARTBEATS = 3  # of a lease
HOUSEKEEPING_SECONDS = 3600.0
SWITCH_SECONDS = 0.001
"""How long a thread may keep Python's lock from the others. A delta changes threads on its way, and a turn's
start is busy for longer than the usual 5 ms: this halves the delta's p95."""


@dataclass(slots=True, eq=False)
class _Drain:
    """One session's place among those that are drained here: from before its lease is taken until after it is
    given back. `turn` may be cancelled at any moment; `task` waits for it and cleans up.

    `left` is the row of a session whose last turn nobody ended: that is settled, then `settled` is set.
    `stop_epoch`: a stop was heard before the lease was there, and is for the turn under this one.
    `number` is that of the next event which would change the session when the turn began. A `child` runs
    within another one's turn and takes no place of its own.
    """

    left: Session | None = None
    settled: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None
    lease: Lease | None = None
    turn: asyncio.Task[None] | None = None
    run: Run | None = None
    stopping: bool = False
    stop_epoch: int = -1
    number: int = 0
    child: bool = False


class Runtime:
    """Methods without a leading underscore may be called from any thread."""

    def __init__(self) -> None:
        self._worker = workers.Worker()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._drains: dict[str, _Drain] = {}
        self._transcripts = Transcripts()
        self._chores: list[asyncio.Task[None]] = []
        self._called: set[str] = set()
        self._calling: asyncio.Task[None] | None = None
        self._places: dict[line.Waiting, int] = {}
        self._beginning: asyncio.Task[None] | None = None
        self._may_begin = False
        self._resting: set[str] = set()
        """After an error the next heartbeat or prompt begins a session again, not whoever ends next."""
        self._closing = False

    @property
    def owner(self) -> str:
        """The name under which it holds leases."""
        return self._worker.name

    @property
    def is_alive(self) -> bool:
        """Whether its thread runs."""
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Start the thread, settle what a dead worker left, and take up prompts that wait."""
        sys.setswitchinterval(SWITCH_SECONDS)
        custom.register()
        mcp.register()
        attached_files.register()
        lsp.register()
        browser.register()
        self._worker.register()
        loop = self._loop = asyncio.new_event_loop()
        hooks.register(loop)
        self._thread = threading.Thread(target=loop.run_forever, name="turns", daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), loop)

    async def stop(self) -> None:
        """Interrupt every turn with its partial output saved; awaited from the server's loop."""
        if self._loop is None:
            return
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._stop(), self._loop))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._worker.close()

    def wake(self, session_id: str) -> None:
        self.call(self._call_in, session_id)

    def compare(self) -> None:
        """Attempts of a comparison may begin."""
        self.call(self._begin_attempts)

    @property
    def turns(self) -> int:
        """How many run here."""
        return len(self._drains)

    def interrupt(self, session_id: str, epoch: int) -> None:
        """`epoch` is that of the lease of the turn that is meant; 0 for whatever runs."""
        self.call(self._interrupt, session_id, epoch)

    def answered(self, request_id: str) -> None:
        self.call(approvals.look_again)
        self.call(questions.answered, request_id)

    async def ask(self, work: Coroutine[Any, Any, T]) -> T:
        """What a coroutine gives, on the loop of the turns; on this one where no turns run. Cancelling this
        cancels it."""
        if self._loop is None:
            return await work
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def call(self, function: Any, *arguments: str | int) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(function, *arguments)

    async def _start(self) -> None:
        """Nothing that cannot be settled keeps the heartbeat or another session from beginning."""
        copier = Copier(lambda: bool(self._drains))
        chores = (self._keep_leases(), self._look_after_others(), self._keep_house(), copier.run())
        self._chores = [asyncio.create_task(chore) for chore in chores]
        asyncio.get_running_loop().run_in_executor(None, probe.found)  # a first turn asks for it
        if settings.OPENED_DIRECTORY:
            hub.warm(Path(settings.OPENED_DIRECTORY))
            await warm_up(Path(settings.OPENED_DIRECTORY))

    async def _keep_house(self) -> None:
        """At once and then by the hour, as a server may run for weeks."""
        while True:
            try:
                await asyncio.to_thread(expire_outputs)
                await in_db(prune_rows)
                await remove_scratch()
                await asyncio.to_thread(door.recover)
                await caretaker.rounds()
            except Exception:
                logger.exception("the housekeeping failed")
            await asyncio.sleep(HOUSEKEEPING_SECONDS)

    async def _keep_leases(self) -> None:
        """By itself: what is taken over may take its time to settle."""
        while True:
            await self._try(self._renew)
            await asyncio.sleep(settings.LEASE_SECONDS / HEARTBEATS)

    async def _look_after_others(self) -> None:
        await self._try(self._settle_adrift)
        while True:
            for duty in (self._take_over_the_dead, self._wake_waiting):
                await self._try(duty)
            self._begin_attempts()
            await asyncio.sleep(settings.LEASE_SECONDS / HEARTBEATS)

    async def _try(self, duty: Callable[[], Awaitable[None]]) -> None:
        try:
            await duty()
        except Exception:
            logger.exception("a heartbeat failed")

    async def _renew(self) -> None:
        """Keep our leases; stop the turns whose lease is gone, and those that are to be stopped."""
        confirmed = await in_db(leases.renew, self.owner, settings.LEASE_SECONDS)
        approvals.look_again()
        questions.look_again()
        ours = {row.id: row for row in await in_db(leases.leased) if row.lease_owner == self.owner}
        for session_id, entry in list(self._drains.items()):
            if entry.lease is None or entry.lease.confirmed > confirmed:
                continue  # it was taken after the rows were read
            row = ours.get(session_id)
            if row is None or row.lease_epoch != entry.lease.epoch or leases.is_stopped(row):
                self._interrupt(session_id)
            else:
                entry.lease.confirmed = confirmed

    async def _settle_adrift(self) -> None:
        """What is at work by its rows and by nobody's lease: versions before this one could leave such."""
        for session_id in await in_db(leases.adrift):
            row = await in_db(session_store.get, session_id)
            if row is not None:
                await self._take_over(row)

    async def _take_over_the_dead(self) -> None:
        """Of other workers, and what a failure of our own left."""
        for row in await in_db(leases.leased):
            if row.id not in self._drains and await in_db(self._is_abandoned, row):
                await self._take_over(row)

    def _is_abandoned(self, row: Session) -> bool:
        expired: bool = row.expired  # type: ignore[attr-defined]  # annotated by `leased`
        return expired or self._is_gone(row.lease_owner)

    async def _wake_waiting(self) -> None:
        """Do what lost hints would have told."""
        for session_id in await in_db(inbox.sessions_waiting):
            self._call_in(session_id)
        for session_id in await resumption.sessions_due():
            self._call_in(session_id)
        for session_id in await in_db(pursuits.sessions_due):
            self._call_in(session_id)

    def _begin_attempts(self) -> None:
        """Beside all else: a worktree takes its time."""
        self._may_begin = True
        if self._beginning is None and not self._closing:
            self._beginning = asyncio.get_running_loop().create_task(self._begin_all())

    async def _begin_all(self) -> None:
        try:
            while self._may_begin:
                self._may_begin = False
                await self._try(partial(begin_waiting, self.owner, lambda: not self._closing, self._call_in))
        finally:
            self._beginning = None

    def _measured(self, judge: str) -> None:
        """An attempt of a comparison was: others may begin, or the session `judge` is to do that. Neither is
        done under the lease of the one that tells."""
        loop, apart = asyncio.get_running_loop(), Context()
        loop.call_soon(self._begin_attempts, context=apart)
        if judge:
            loop.call_soon(self._call_in, judge, context=apart)

    async def _take_over(self, left: Session) -> None:
        """Return when the turn that was left is settled, or could not be; the rest goes on beside this."""
        entry = self._wake(left.id, left)
        if entry is not None:
            await entry.settled.wait()

    def _call_in(self, session_id: str) -> None:
        """Begin to drain a session; where not every one may at once, those that come next in the line."""
        if not (settings.MOST_TURNS or quotas.are_set() or gate.is_registered()):
            self._wake(session_id)
            return
        self._resting.discard(session_id)
        self._called.add(session_id)
        if self._calling is None:
            self._calling = asyncio.get_running_loop().create_task(self._call_all())

    async def _call_all(self) -> None:
        try:
            while self._called:
                called, self._called = self._called, set()
                await self._try(partial(self._let_in, called))
        finally:
            self._calling = None

    async def _let_in(self, called: set[str]) -> None:
        for session_id in await in_db(line.beside, called):
            self._wake(session_id)
        out = self._drains.keys() | self._resting
        waiting = [one for one in await in_db(line.line) if one.session_id not in out]
        taken = sum(not entry.child for entry in self._drains.values())
        room = max(settings.MOST_TURNS - taken, 0) if settings.MOST_TURNS else len(waiting)
        for one in waiting[:room]:
            self._wake(one.session_id)
        places = {one: place for place, one in enumerate(waiting[room:], 1)}
        for one in places.keys() | self._places.keys():
            if places.get(one) != self._places.get(one):
                line.tell(one)
        self._places = places

    def _wake(self, session_id: str, left: Session | None = None) -> _Drain | None:
        """Begin to drain a session; None where that is being done."""
        if self._closing or session_id in self._drains:
            return None
        entry = self._drains[session_id] = _Drain(left)
        # A context of its own: a child session is not worked on under its parent's lease.
        entry.task = asyncio.get_running_loop().create_task(self._run(session_id, entry), context=Context())
        return entry

    def _interrupt(self, session_id: str, epoch: int = 0) -> None:
        entry = self._drains.get(session_id)
        if entry is None or entry.stopping:
            return
        if epoch and entry.lease is None:
            entry.stop_epoch = epoch
            return
        if epoch and entry.lease and entry.lease.epoch != epoch:
            return  # the turn that was meant has ended
        entry.stopping = True
        if entry.run is not None:
            entry.run.abort.set()
        if entry.turn is not None:
            entry.turn.cancel()

    async def _run(self, session_id: str, entry: _Drain) -> None:
        """Drain a session, and free its place whatever happens. What waits then goes next."""
        go_on = False
        try:
            entry.lease = await self._lease(session_id, entry.left)
            if entry.lease is not None:
                entry.stopping = entry.stopping or entry.stop_epoch == entry.lease.epoch
                with fenced(entry.lease):
                    go_on = await self._under_lease(session_id, entry, entry.lease)
        except LeaseLost as error:
            logger.info("%s", error)
        except Exception as error:
            logger.exception("session %s could not be worked on", session_id)
            await recovery.alarm(session_id, error)
        finally:
            if entry.lease is not None:
                entry.lease.over = True
            entry.settled.set()
            del self._drains[session_id]
        if self._closing:
            return
        if go_on and await in_db(pursuits.has_work, session_id):
            self._call_in(session_id)
        elif settings.MOST_TURNS or quotas.are_set():
            if not go_on:
                self._resting.add(session_id)
            self._call_in("")

    async def _lease(self, session_id: str, left: Session | None) -> Lease | None:
        """Only a free lease is claimed; one that somebody left is seized."""
        if left is None or not left.lease_owner:
            return await in_db(leases.claim, session_id, self.owner, settings.LEASE_SECONDS)
        gone = await in_db(self._is_gone, left.lease_owner)
        return await in_db(leases.seize, left, self.owner, settings.LEASE_SECONDS, dead=gone)

    def _is_gone(self, lease_owner: str) -> bool:
        """Whether nobody works under it: not under our own, where there is no drain here."""
        name, _, purpose = lease_owner.partition(":")
        return (name == self.owner and not purpose) or workers.is_dead(name)

    async def _under_lease(self, session_id: str, entry: _Drain, lease: Lease) -> bool:
        """Settle what was left, or else drain. Whether what waits may go next at once."""
        if entry.left is not None:
            await remove_leftovers(entry.left)
            how = recovery.Close(recovery.CRASHED, stopped=lease.left_stopped)
            await self._close(entry, lease, how)
            return True
        entry.turn = asyncio.create_task(self._drain(session_id, entry))
        if entry.stopping:
            entry.turn.cancel()
        await asyncio.wait([entry.turn])
        ending = self._ending(session_id, entry.turn)
        if ending is not None or entry.child:
            await browsers.end(session_id)
        await door.rest(session_id)
        number = await self._close(entry, lease, self._closing_of(entry, ending))
        lease.over = True
        if entry.run is not None:
            if ending is None:
                if number == entry.number + lease.numbered:  # nobody else wrote into the session meanwhile
                    self._transcripts.keep(session_id, number, entry.run.transcript)
                await finished(entry.run)
            caretaker.turn_ended(entry.run.session)
        return ending is None or ending is recovery.STOPPED  # the heartbeat goes on after an error: no spin

    def _ending(self, session_id: str, turn: asyncio.Task[None]) -> recovery.Ending | None:
        """How it ended; None for in order."""
        if turn.cancelled():
            return recovery.CRASHED if self._closing else recovery.STOPPED
        error = turn.exception()
        if error is not None and not isinstance(error, LeaseLost):
            logger.error("the turn of session %s ended in an error of ours", session_id, exc_info=error)
        return recovery.ending_of(error) if error is not None else None

    def _closing_of(self, entry: _Drain, ending: recovery.Ending | None) -> recovery.Close:
        run = entry.run
        if run is None:
            return recovery.Close(ending)
        return recovery.Close(ending, error=run.error)

    async def _drain(self, session_id: str, entry: _Drain) -> None:
        entry.number, work = await in_db(lambda: (events.following(session_id), inbox.work(session_id)))
        if work is None:
            return
        hub.warm(Path(work.session.directory))
        entry.run = Run(
            work.session,
            await asyncio.to_thread(tracker, work.session.project),
            Children(self._run_child, self._interrupt),
            self._transcripts.take(session_id, entry.number),
            measured=self._measured,
        )
        await drain(entry.run, work)

    async def _run_child(self, session_id: str) -> None:
        """Drain a session from within another one's turn."""
        self._wake(session_id)
        entry = self._drains.get(session_id)
        if entry is not None and entry.task is not None:
            entry.child = True
            await asyncio.shield(entry.task)

    async def _close(self, entry: _Drain, lease: Lease, close: recovery.Close) -> int:
        """End the turn and give the lease back; again with each heartbeat where that fails (a full disk).
        What `recovery.close` answers.

        Raises LeaseLost: the rows are another's.
        """
        entry.stopping = True
        if close.ending is not None:
            await self._stop_background(entry)
            await self._summarise(lease)
        failed = False
        while True:
            try:
                return await in_db(recovery.close, lease, close)
            except LeaseLost:
                raise
            except Exception as error:
                entry.settled.set()
                if not failed:
                    logger.exception("the turn of session %s cannot be closed yet", lease.session_id)
                    await recovery.alarm(lease.session_id, error)
                failed = True
            await asyncio.sleep(settings.LEASE_SECONDS / HEARTBEATS)

    async def _stop_background(self, entry: _Drain) -> None:
        tasks = list(entry.run.background) if entry.run else []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _summarise(self, lease: Lease) -> None:
        """A summary that cannot be made keeps no turn from its end."""
        try:
            if (session := await in_db(session_store.get, lease.session_id)) is not None:
                await summaries.summarise(session)
        except LeaseLost:
            raise
        except Exception:
            logger.exception("session %s could not be summed up", lease.session_id)

    async def _stop(self) -> None:
        self._closing = True
        caretaker.stop()
        for chore in self._chores:
            chore.cancel()
        tasks = [entry.task for entry in self._drains.values() if entry.task is not None]
        tasks += [self._beginning] if self._beginning is not None else []
        for session_id in list(self._drains):
            self._interrupt(session_id)
        await asyncio.gather(*tasks, return_exceptions=True)
        await browsers.close()
        await door.close()


runtime = Runtime()


# What is thrown away in time (sessions.core.retention): tool outputs, events, sessions archived or deleted.


def expire_outputs() -> None:
    """Managed Tool Output Files."""
    if days := settings.RETENTION.outputs_days:
        expire(Path(settings.TOOL_OUTPUT_DIR), days * 24 * 3600)


async def remove_scratch() -> None:
    """The scratch folders of sessions that are deleted."""
    outputs = Path(settings.TOOL_OUTPUT_DIR)
    known = await asyncio.to_thread(scratch.known, outputs)
    living = await in_db(session_store.living, known)
    await asyncio.to_thread(scratch.remove, outputs, set(known) - living)


async def remove_leftovers(left: Session) -> None:
    """What a process that was killed in the middle of writing a file of the project left beside it."""
    for worktree, path in await in_db(ledger.cut_off, left.id):
        await asyncio.to_thread(files.remove_leftovers, Path(worktree, path))


def prune_rows() -> None:
    """Runs on the ORM's thread."""
    kept = settings.RETENTION
    events.prune(kept.events or None, retention.before(kept.events_days))
    permissions.cancel_orphans()
    problems.prune()
    schedules.prune()
    session_store.delete_archived(retention.before(kept.archived_days))
    session_store.purge(retention.before(kept.deleted_days))
    workers.forget_dead({row.lease_owner.partition(":")[0] for row in leases.leased()})

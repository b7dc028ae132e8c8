"""What looks after all schedules of this server: a task that sleeps until something is due, and is woken when
something changes. What it does is decided by rows alone, so it may be ended at any moment, and there may be
another one (docs/decisions/0065-schedules.md)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from agents.agent.schedules import acts, running, triggers
from agents.agent.schedules.times import GRACE, BadTime, When
from sessions.changes import actions
from sessions.core import bus, fence
from sessions.core.db import in_db
from sessions.core.models import Occurrence, Project, Schedule
from sessions.core.store import schedules
from sessions.core.store.schedules import Cause, Happened, Outcome, State

logger = logging.getLogger(__name__)

LONGEST = 20.0
"""Seconds after which it looks anyway: a machine may have slept, a clock may have been set."""
SHORTEST = 0.05
RETRY = 5.0
"""Seconds after an error."""
FILES_SECONDS = 20.0
"""How often it is looked whether files of projects are schedules."""
SETTLE = 1.5
"""Seconds for which files have to rest before their change counts."""
JUMP = 60_000
"""Milliseconds by which a clock was put back at least."""
_WAKING = frozenset({schedules.CHANGED, "session.idle", "session.goal", "session.deleted"})


class Scheduler:
    """Of one process. It runs on the loop from which agents are woken."""

    def __init__(self) -> None:
        self._stirred = asyncio.Event()
        self._watches: dict[tuple[object, ...], asyncio.Task[None]] = {}
        self._begins: dict[int, asyncio.Task[None]] = {}
        self._changed: dict[str, float] = {}
        """By project when its files or branches changed last, by `monotonic`."""
        self._met: set[str] = set()
        """Schedules without a time that were looked at since the start."""
        self._files_at = 0.0
        self._offset: float | None = None
        self._failed = False

    async def run(self) -> None:
        """Until it is cancelled."""
        listener = asyncio.create_task(self._listen())
        try:
            while True:
                self._stirred.clear()
                try:
                    pause = await self._look()
                except Exception:
                    logger.exception("schedules could not be looked at")
                    pause = RETRY
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await self._stirred.wait()
        finally:
            for task in (listener, *self._watches.values(), *self._begins.values()):
                task.cancel()

    async def _listen(self) -> None:
        async with bus.subscribe(wants=lambda event: event.type in _WAKING) as mailbox:
            while True:
                await mailbox.take()
                mailbox.overflowed = False
                self._stirred.set()

    async def _look(self) -> float:
        """Do all that is due. For how many seconds to rest. Each turn that ends wakes it: where there is no
        schedule that costs next to nothing."""
        self._failed = False
        await self._try(self._read_files)
        if not await in_db(schedules.exist):
            self._watch([])
            return RETRY if self._failed else LONGEST
        duties: tuple[Callable[[int], Awaitable[None]], ...] = (
            self._mind_the_clock,
            self._pass_times,
            self._look_for_changes,
            self._settle,
            self._begin,
        )
        moment = await in_db(schedules.moment)
        for duty in duties:
            await self._try(partial(duty, moment))
        return RETRY if self._failed else await self._pause()

    async def _try(self, duty: Callable[[], Awaitable[None]]) -> None:
        """What fails for one keeps the others from nothing."""
        try:
            await duty()
        except Exception:
            self._failed = True
            logger.exception("a schedule could not be looked after")

    async def _pause(self) -> float:
        nearest, moment = await in_db(schedules.nearest), await in_db(schedules.moment)
        waits = [LONGEST] + ([(nearest - moment) / 1000] if nearest is not None else [])
        waits += [changed + SETTLE - monotonic() for changed in self._changed.values()]
        return max(min(waits), SHORTEST)

    async def _mind_the_clock(self, moment: int) -> None:
        """At the start, and where a clock was put back: the next times are nearer than was thought. What was
        done at such a time is not done again, as its row is there."""
        offset = moment - fence.clock() * 1000
        before, self._offset = self._offset, offset
        if before is not None and offset > before - JUMP:
            return
        for schedule in await in_db(schedules.in_force):
            await self._try(partial(self._reckon, schedule, moment))

    async def _reckon(self, schedule: Schedule, moment: int) -> None:
        when = When.of(schedule)
        if not when.by_clock or (schedule.due is None and schedule.kind == Schedule.Kind.ONCE):
            return
        following = when.following(moment)
        if following is not None and (schedule.due is None or following < schedule.due):
            await in_db(schedules.pass_on, schedule, None, due=following)

    async def _read_files(self) -> None:
        if monotonic() >= self._files_at:
            self._files_at = monotonic() + FILES_SECONDS
            for project in await acts.with_files():
                await self._try(partial(self._read_files_of, project))

    async def _read_files_of(self, project: Project) -> None:
        await acts.read_files(project)

    async def _pass_times(self, moment: int) -> None:
        for schedule in await in_db(schedules.due, moment):
            await self._try(partial(self._pass_time, schedule, moment))

    async def _pass_time(self, schedule: Schedule, moment: int) -> None:
        """Claim what is due: of several times that have passed the last."""
        assert schedule.due is not None
        when = When.of(schedule)
        try:
            time = when.last(schedule.due - 1, moment) or schedule.due
            following = when.following(moment)
        except BadTime as problem:
            await in_db(schedules.update, schedule, problem=str(problem), due=None)
            return
        cause, reason = Cause.TIME, ""
        if time < moment - GRACE:
            cause, reason = Cause.MISSED, "" if schedule.catch_up else schedules.MISSED
        await in_db(schedules.pass_on, schedule, Happened(f"time {time}", cause, time, reason), due=following)

    async def _look_for_changes(self, moment: int) -> None:
        """Of files and branches. A project is looked at again once its files have come to rest."""
        rows = [row for row in await in_db(schedules.in_force) if row.kind in triggers.KINDS]
        self._watch(rows)
        rested = {id for id, changed in self._changed.items() if monotonic() >= changed + SETTLE}
        for id in rested:
            del self._changed[id]
        self._met &= {row.id for row in rows}
        at_work = {run.schedule_id for run in await in_db(schedules.running)}
        for row in rows:
            if row.project_id in rested or row.id not in self._met:
                own = row.id in at_work and not row.worktree  # what its own run changes is not for it
                await self._try(partial(self._look_for_change, row, moment, own=own))

    async def _look_for_change(self, schedule: Schedule, moment: int, *, own: bool) -> None:
        first = schedule.id not in self._met
        self._met.add(schedule.id)
        seen = "" if own else await _seen(schedule)
        if own or seen == schedule.seen:
            return
        if not seen or (first and not schedule.catch_up):
            await in_db(schedules.pass_on, schedule, None, seen=seen)
        elif await in_db(schedules.of_last_hour, schedule.id, acts.EVENTS) >= acts.MOST_AN_HOUR:
            self._met.discard(schedule.id)  # later, then
        else:
            key = seen if schedule.kind == Schedule.Kind.COMMIT else f"{seen[:40]} {moment}"
            happened = Happened(f"{schedule.kind} {key}", schedule.kind, moment)
            await in_db(schedules.pass_on, schedule, happened, seen=seen)

    def _watch(self, rows: list[Schedule]) -> None:
        """What these wait for, and nothing else."""
        wanted = {key: begin for row in rows for key, begin in self._wanted(row, rows)}
        for key, task in list(self._watches.items()):
            if key not in wanted or task.done():
                self._watches.pop(key).cancel()
        for key in wanted.keys() - self._watches.keys():
            self._watches[key] = asyncio.create_task(wanted[key]())

    def _wanted(
        self, row: Schedule, rows: list[Schedule]
    ) -> Iterator[tuple[tuple[object, ...], Callable[[], Coroutine[Any, Any, None]]]]:
        folder, told = Path(row.project.worktree), partial(self._tell, row.project_id)
        if row.kind == Schedule.Kind.FILES:
            yield ("files", folder), partial(triggers.watch_files, folder, told)
        else:
            branches = tuple(sorted({one.rule for one in rows if _is_beside(one, row)}))
            yield ("branches", folder, branches), partial(triggers.watch_branches, folder, branches, told)

    def _tell(self, project_id: str) -> None:
        self._changed[project_id] = monotonic()
        self._stirred.set()

    async def _settle(self, moment: int) -> None:
        for run in await in_db(schedules.running):
            await self._try(partial(self._end, run, moment))

    async def _end(self, run: Occurrence, moment: int) -> None:
        """Write how a run ended, if it has; one whose time is over is stopped."""
        found = await in_db(schedules.outcome, run)
        if found is None and schedules.is_over(run, moment):
            await actions.abort(str(run.session_id))
            found = Outcome(State.STOPPED, schedules.TIME_OVER)
        if found is None:
            return
        schedule = run.schedule
        columns = {}
        if schedule.kind in triggers.KINDS and not schedule.worktree:
            columns["seen"] = await _seen(schedule)
        await in_db(schedules.end, run, found.state, found.reason, found.result, **columns)

    async def _begin(self, moment: int) -> None:
        """Each by itself: a worktree of a large repository takes its time."""
        for occurrence in await in_db(schedules.to_begin):
            if occurrence.id not in self._begins:
                task = asyncio.create_task(running.begin(occurrence))
                self._begins[occurrence.id] = task
                task.add_done_callback(partial(self._begun, occurrence.id))

    def _begun(self, occurrence_id: int, _: asyncio.Task[None]) -> None:
        del self._begins[occurrence_id]


def _is_beside(one: Schedule, other: Schedule) -> bool:
    return one.kind == Schedule.Kind.COMMIT and one.project_id == other.project_id


async def _seen(schedule: Schedule) -> str:
    folder = Path(schedule.project.worktree)
    return await asyncio.to_thread(triggers.seen, schedule.kind, schedule.rule, folder)

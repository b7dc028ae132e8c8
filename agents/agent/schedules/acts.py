"""What a person, a client or another program does with a schedule; pages, API and the address of one call the
same functions."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.utils.translation import gettext

from agents.agent.commands import admission
from agents.agent.commands.listing import UnknownCommand
from agents.agent.goals.checks import BadCheck, lines
from agents.agent.schedules import files, times, triggers
from agents.agent.schedules.running import command_of
from agents.agent.schedules.times import BadTime, When
from agents.toolkit.template import MissingArgument
from sessions.core.db import in_db
from sessions.core.models import Occurrence, Project, Schedule
from sessions.core.principal import acting
from sessions.core.store import projects, schedules
from sessions.core.store.goals import NOBODY
from sessions.core.store.schedules import Cause, Happened, ScheduleRefused, Terms, terms_of

Kind = Schedule.Kind
MOST_AN_HOUR = 30
"""How often what has no time may begin something: two schedules may set each other off."""
EVENTS = (Cause.FILES, Cause.COMMIT, Cause.HOOK)
MOST_PATTERNS = 100
_BRANCH = re.compile(r"(?!.*(\.\.|//|@\{))[^\s~^:?*\[\\\x00-\x1f]{1,250}")


class TooOften(Exception):
    """Its address is called more often than it may be."""


async def checked(project: Project, terms: Terms) -> Terms:
    """As it is kept. Raises ScheduleRefused."""
    terms.check()
    try:
        rule = _rule(terms)
        goal = terms.goal and {**terms.goal, "checks": lines("\n".join(terms.goal["checks"]))}
        if goal and not goal["checks"] and goal.get("judge") == NOBODY:
            raise BadCheck(gettext("Give the goal a check, or a judge: nothing would say when it is done."))
        if goal is None and (named := command_of(terms.text)):
            await admission.checked(Path(project.worktree), *named)
    except (BadCheck, BadTime, MissingArgument, UnknownCommand) as problem:
        raise ScheduleRefused(str(problem)) from problem
    return replace(terms, rule=rule, goal=goal or None)


def _rule(terms: Terms) -> str:
    """Raises BadTime."""
    times.zone_of(terms.zone)
    given = terms.rule.strip()
    match terms.kind:
        case Kind.CRON:
            return times.expression(given)
        case Kind.ONCE:
            return times.once(given)
        case Kind.FILES:
            patterns = list(dict.fromkeys(line.strip() for line in given.splitlines() if line.strip()))
            if not 0 < len(patterns) <= MOST_PATTERNS:
                raise BadTime(gettext("Name the files by a pattern a line: src/*.py."))
            return "\n".join(patterns)
        case Kind.COMMIT:
            if not _BRANCH.fullmatch(given):
                raise BadTime(gettext("Name a branch."))
            return given
    return ""


async def create(project: Project, terms: Terms) -> Schedule:
    """Raises ScheduleRefused."""
    terms = await checked(project, terms)
    due, seen = await _reckoned(project, terms)
    if due is None and terms.kind == Kind.ONCE:
        raise ScheduleRefused(gettext("This time is over."))
    return await in_db(schedules.create, project, terms, due=due, seen=seen, actor=acting.get())


async def change(schedule: Schedule, terms: Terms) -> Schedule:
    """Raises ScheduleRefused."""
    if schedule.file:
        raise ScheduleRefused(gettext("It is in a file: change that."))
    terms = await checked(schedule.project, terms)
    due, seen = await _reckoned(schedule.project, terms)
    before = terms_of(schedule)
    same = (before.kind, before.rule, before.zone) == (terms.kind, terms.rule, terms.zone)
    if due is None and terms.kind == Kind.ONCE and not same:
        raise ScheduleRefused(gettext("This time is over."))
    if same:
        due, seen = (schedule.due, schedule.seen) if not schedule.paused else (None, "")
    elif schedule.paused:
        due = None
    return await in_db(schedules.change, schedule, terms, due=due, seen=seen, actor=acting.get())


async def pause(schedule: Schedule) -> Schedule:
    """What runs goes on; what comes meanwhile is as if it were not."""
    return await in_db(schedules.update, schedule, paused=True, due=None)


async def resume(schedule: Schedule) -> Schedule:
    """From now on. Raises ScheduleRefused."""
    due, seen = await _reckoned(schedule.project, terms_of(schedule))
    return await in_db(schedules.update, schedule, paused=False, due=due, seen=seen)


async def run_now(schedule: Schedule) -> Schedule:
    """Also one that is paused. Raises ScheduleRefused."""
    if schedule.problem:
        raise ScheduleRefused(gettext(schedule.problem))
    moment = await in_db(schedules.moment)
    happened = Happened(f"hand {secrets.token_hex(8)}", Cause.HAND, moment)
    await in_db(schedules.note, schedule, happened)
    return schedule


async def remove(schedule: Schedule) -> Schedule:
    """Raises ScheduleRefused."""
    if schedule.file and schedule.problem != files.GONE:
        raise ScheduleRefused(gettext("It is in a file: remove that, or pause it here."))
    await in_db(schedules.remove, schedule.id)
    return schedule


ACTS: Mapping[str, Callable[[Schedule], Awaitable[Schedule]]] = {
    "run": run_now,
    "pause": pause,
    "resume": resume,
    "remove": remove,
}


async def new_secret(schedule: Schedule) -> str:
    """For its address, which no other opens then. It is told once: what is kept is its hash."""
    secret = secrets.token_urlsafe(32)
    await in_db(schedules.update, schedule, secret=hashed(secret))
    return secret


def hashed(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()


async def called(secret: str, payload: str, delivery: str) -> tuple[Schedule, Occurrence | None]:
    """The address of a schedule was called; the same `delivery` (empty for none) counts once. None where it
    counts not, or not any more. Raises LookupError where no schedule has it, and TooOften."""
    schedule = await in_db(schedules.by_secret, hashed(secret))
    if schedule is None or schedule.kind != Kind.HOOK:
        raise LookupError
    if schedule.paused or schedule.problem:
        return schedule, None
    if await in_db(schedules.of_last_hour, schedule.id, EVENTS) >= MOST_AN_HOUR:
        raise TooOften
    key = f"hook {hashed(delivery)[:40] if delivery else secrets.token_hex(16)}"
    happened = Happened(key, Cause.HOOK, await in_db(schedules.moment), payload=payload)
    return schedule, await in_db(schedules.note, schedule, happened)


async def _reckoned(project: Project, terms: Terms) -> tuple[int | None, str]:
    """The next time, and the mark of what it waits for."""
    moment = await in_db(schedules.moment)
    try:
        due = When(terms.kind, terms.rule, terms.zone).following(moment)
    except BadTime as problem:
        raise ScheduleRefused(str(problem)) from problem
    seen = await asyncio.to_thread(triggers.seen, terms.kind, terms.rule, Path(project.worktree))
    return due, seen


# Those in files of a project.


@dataclass(frozen=True, slots=True)
class Unread:
    """A file that says no schedule, and why."""

    name: str
    problem: str


async def read_files(project: Project) -> list[Unread]:
    """Have the rows be what the files say; those that say nothing. One whose content is new, and trusted, is
    in force unless it says that it is not."""
    found = await asyncio.to_thread(files.found, Path(project.worktree))
    known = await in_db(schedules.of_files, project.id)
    unread = []
    for file in found:
        row = known.pop(file.name, None)
        if file.terms is None:
            unread.append(Unread(file.name, file.problem))
            if row is not None and row.problem != file.problem:
                await in_db(schedules.update, row, problem=file.problem, digest=file.digest, due=None)
        elif row is None or (row.digest, row.problem) != (file.digest, file.problem):
            try:
                await _keep(project, row, file, file.terms)
            except ScheduleRefused as problem:
                unread.append(Unread(file.name, str(problem)))
    for row in known.values():
        if not await in_db(schedules.occurrences, row.id, 1):
            await in_db(schedules.remove, row.id)
        elif row.problem != files.GONE:
            await in_db(schedules.update, row, problem=files.GONE, due=None)
    return unread


async def _keep(project: Project, row: Schedule | None, file: files.Found, terms: Terms) -> None:
    paused = not file.enabled if row is None or row.digest != file.digest else row.paused
    due, seen = await _reckoned(project, terms)
    columns: dict[str, Any] = {"digest": file.digest, "problem": file.problem, "paused": paused}
    due = None if paused or file.problem else due
    await in_db(schedules.keep_file, project, file.name, terms, due=due, seen=seen, **columns)


async def with_files() -> list[Project]:
    """The projects that have schedules in files, or had."""
    every = [project for project in await in_db(projects.listed) if project.worktree_of_id is None]
    known = await in_db(schedules.with_files)
    return await asyncio.to_thread(lambda: [one for one in every if _has_files(one, known)])


def _has_files(project: Project, known: Collection[str]) -> bool:
    folder = Path(project.worktree)
    return project.id in known or any((folder / name).is_dir() for name in files.FOLDERS)

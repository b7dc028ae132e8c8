"""`/schedule`, which is ours: what is done by itself in a project, its runs, and running it now."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from ninja import Router
from ninja.errors import HttpError
from pydantic import Field

from agents.agent.schedules import acts
from sessions.api.base import NotFound, project_of, wire
from sessions.api.described import answers
from sessions.core.db import in_db
from sessions.core.models import Occurrence, Schedule
from sessions.core.store import schedules
from sessions.core.store.schedules import ScheduleRefused, Terms
from sessions.core.wire.base import Wire
from sessions.core.wire.session import Preset

router = Router()

Name = Annotated[str, Field(max_length=200)]


class ScheduleWhen(Wire):
    """`rule` by its kind: a time (`2026-12-01T09:30`), a cron expression, patterns of files a line each, a
    branch, nothing. `timezone` by its name (`Europe/Berlin`)."""

    kind: Literal["once", "cron", "files", "commit", "hook"]
    rule: str = ""
    timezone: Name = "UTC"


class ScheduleGoal(Wire):
    """As of `/session/{sessionID}/goal`; the prompt is the objective."""

    checks: list[str] = Field(default_factory=list)
    judge: Annotated[str, Field(max_length=500)] = ""
    turns: Annotated[int, Field(ge=0, le=1_000_000)] = 0


class ScheduleCall(Wire):
    """`prompt` may be a slash command. What was missed is done once afterwards (`catchUp`), or not at all.
    `cost` (US dollars) and `minutes` are what a run may use, 0 for no end. `payload`: the agent reads what
    the address was sent."""

    name: Name
    when: ScheduleWhen
    prompt: str
    catch_up: bool = Field(default=True, alias="catchUp")
    goal: ScheduleGoal | None = None
    agent: Annotated[str, Field(max_length=64)] = ""
    model: Name = ""
    variant: Annotated[str, Field(max_length=64)] = ""
    preset: Preset | None = None
    worktree: bool = False
    cost: Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)] = 0.0
    minutes: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    payload: bool = False

    def terms(self) -> Terms:
        goal = self.goal
        return Terms(
            self.name,
            self.when.kind,
            self.when.rule,
            self.when.timezone,
            self.prompt,
            catch_up=self.catch_up,
            goal={"checks": goal.checks, "judge": goal.judge, "turns": goal.turns} if goal else None,
            agent=self.agent,
            model=self.model,
            variant=self.variant,
            preset=self.preset or "",
            worktree=self.worktree,
            cost=self.cost,
            minutes=self.minutes,
            payload=self.payload,
        )


class RunTime(Wire):
    """In milliseconds."""

    created: int
    begun: int | None = None
    ended: int | None = None


class RunInfo(Wire):
    """One time at which it was due; `result` is what the agent said last."""

    id: int
    cause: str
    due: int
    state: Literal["waits", "runs", "done", "failed", "blocked", "spent", "stopped", "skipped"]
    reason: str
    result: str
    session_id: str | None = Field(default=None, alias="sessionID")
    time: RunTime


class ScheduleInfo(ScheduleCall):
    """`file` is the one that it is in, `problem` why it does not count; `due` is the next time."""

    id: str
    project_id: str = Field(alias="projectID")
    file: str
    problem: str
    paused: bool
    due: int | None = None
    last: RunInfo | None = None


class Address(Wire):
    """It is told this once."""

    path: str


@router.get("", operation_id="schedule.list")
@answers(list[ScheduleInfo])
async def list_schedules(request: HttpRequest) -> HttpResponse:
    """Those of a project, what comes next first; its files are read anew."""
    project = await project_of(request)
    if not project._state.adding:  # a folder that nobody opened has none
        await acts.read_files(project)
    return wire(await in_db(_infos, project.id))


@router.post("", operation_id="schedule.create")
@answers(ScheduleInfo)
async def create_schedule(request: HttpRequest, body: ScheduleCall) -> HttpResponse:
    project = await project_of(request)
    try:
        return await _answer(await acts.create(project, body.terms()))
    except ScheduleRefused as problem:
        raise HttpError(400, str(problem)) from problem


@router.get("/{schedule_id}", operation_id="schedule.get")
@answers(ScheduleInfo, errors=(404,))
async def get_schedule(request: HttpRequest, schedule_id: str) -> HttpResponse:
    return await _answer(await _schedule(schedule_id))


@router.patch("/{schedule_id}", operation_id="schedule.change")
@answers(ScheduleInfo, errors=(404,))
async def change_schedule(request: HttpRequest, schedule_id: str, body: ScheduleCall) -> HttpResponse:
    """Have it be all that is given; what waits or runs goes on."""
    try:
        return await _answer(await acts.change(await _schedule(schedule_id), body.terms()))
    except ScheduleRefused as problem:
        raise HttpError(400, str(problem)) from problem


@router.delete("/{schedule_id}", operation_id="schedule.remove")
@answers(bool, errors=(404,))
async def remove_schedule(request: HttpRequest, schedule_id: str) -> HttpResponse:
    """The sessions of its runs stay."""
    try:
        await acts.remove(await _schedule(schedule_id))
    except ScheduleRefused as problem:
        raise HttpError(400, str(problem)) from problem
    return wire(True)


@router.get("/{schedule_id}/runs", operation_id="schedule.runs")
@answers(list[RunInfo], errors=(404,))
async def list_runs(request: HttpRequest, schedule_id: str) -> HttpResponse:
    """The newest first."""
    row = await _schedule(schedule_id)
    return wire(await in_db(lambda: [_run(one).wire() for one in schedules.occurrences(row.id, 100)]))


@router.post("/{schedule_id}/address", operation_id="schedule.address")
@answers(Address, errors=(404,))
async def new_address(request: HttpRequest, schedule_id: str) -> HttpResponse:
    """A new one, in place of the one before."""
    secret = await acts.new_secret(await _schedule(schedule_id))
    return wire(Address(path=reverse("hook", settings.ROOT_URLCONF, (secret,))).wire())


@router.post("/{schedule_id}/{act}", operation_id="schedule.act")
@answers(ScheduleInfo, errors=(404,))
async def act(request: HttpRequest, schedule_id: str, act: Literal["run", "pause", "resume"]) -> HttpResponse:
    """`pause` stops no run that goes on."""
    try:
        return await _answer(await acts.ACTS[act](await _schedule(schedule_id)))
    except ScheduleRefused as problem:
        raise HttpError(400, str(problem)) from problem


async def _schedule(schedule_id: str) -> Schedule:
    row = await in_db(schedules.get, schedule_id)
    if row is None:
        raise NotFound(f"Schedule not found: {schedule_id}")
    return row


async def _answer(row: Schedule) -> HttpResponse:
    return wire(await in_db(_info, await _schedule(row.id)))


def _infos(project_id: str) -> list[dict[str, Any]]:
    return [_info(row) for row in schedules.listing([project_id])]


def _info(row: Schedule) -> dict[str, Any]:
    last = schedules.newest([row.id]).get(row.id)
    info = ScheduleInfo(
        id=row.id,
        project_id=row.project_id,
        name=row.name,
        file=row.file,
        problem=row.problem,
        when=ScheduleWhen.model_validate({"kind": row.kind, "rule": row.rule, "timezone": row.zone}),
        prompt=row.text,
        catch_up=row.catch_up,
        goal=ScheduleGoal.model_validate(row.goal) if row.goal is not None else None,
        agent=row.agent,
        model=row.model,
        variant=row.variant,
        preset=row.preset or None,
        worktree=row.worktree,
        cost=row.cost,
        minutes=row.minutes,
        payload=row.payload,
        paused=row.paused,
        due=row.due,
        last=_run(last) if last else None,
    )
    return info.wire()


def _run(row: Occurrence) -> RunInfo:
    return RunInfo(
        id=row.id,
        cause=row.cause,
        due=row.due,
        state=row.state,
        reason=row.reason,
        result=row.result,
        session_id=row.session_id,
        time=RunTime(created=row.time_created, begun=row.time_begun, ended=row.time_ended),
    )

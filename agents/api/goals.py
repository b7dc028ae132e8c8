"""`/session/{id}/goal`, which is ours: set a goal, look at it, pause it, have it go on."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.http import HttpRequest, HttpResponse
from ninja import Router
from ninja.errors import HttpError
from pydantic import Field

from agents.agent.goals import acts
from sessions.api.base import NotFound, session_of, wire
from sessions.api.described import answers
from sessions.core.db import in_db
from sessions.core.models import Goal, Verdict
from sessions.core.store import goals
from sessions.core.store.goals import GoalRefused, Terms
from sessions.core.store.inbox import PromptRefused
from sessions.core.wire.base import Amount, ModelRef, Wire
from sessions.core.wire.session import Preset

router = Router()

Number = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]


class Budget(Wire):
    """0 for no end; `cost` in US dollars."""

    tokens: Amount = 0
    cost: Number = 0.0
    turns: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    hours: Number = 0.0


class GoalCall(Wire):
    """`checks` are lines as the page has them; `preset` is how much is asked while it is active, as before
    where it is not given; `judge` a model (`provider/model`), `none`, or empty for the small one."""

    objective: str
    checks: list[str] = Field(default_factory=list)
    budget: Budget = Field(default_factory=Budget)
    preset: Preset | None = None
    judge: str = Field(default="", max_length=500)

    def terms(self) -> Terms:
        given = self.budget
        return Terms(
            self.objective,
            self.checks,
            given.tokens,
            given.cost,
            given.turns,
            given.hours,
            self.preset or "",
            self.judge,
        )


class NewGoal(GoalCall):
    """The same `messageID` is the same goal, for ever. `agent` and `model` are those of its first prompt."""

    message_id: str = Field(default="", alias="messageID", pattern="^(msg|$)")
    agent: str = ""
    model: ModelRef | None = None

    def choice(self) -> dict[str, str]:
        found = {"message_id": self.message_id, "agent": self.agent}
        if self.model:
            found |= {"provider_id": self.model.provider_id, "model_id": self.model.model_id}
            found["variant"] = self.model.variant or ""
        return found


class CheckInfo(Wire):
    """`exit` is a command's status; `time` in milliseconds."""

    check: str
    passed: bool
    output: str
    exit: int | None = None
    time: int


class VerdictInfo(Wire):
    """`outcome` is what came of a turn; `word` and `words` are the judge's."""

    number: int
    message_id: str = Field(alias="messageID")
    checks: list[CheckInfo]
    word: str
    words: str
    outcome: str
    reason: str
    tokens: int
    cost: float
    time: int


class GoalInfo(Wire):
    """`used` is counted as `budget` is."""

    id: str
    session_id: str = Field(alias="sessionID")
    objective: str
    checks: list[str]
    budget: Budget
    used: Budget
    preset: str
    judge: str
    state: Literal["active", "paused", "done", "blocked", "spent", "ended"]
    reason: str
    verdicts: list[VerdictInfo]
    time: int


@router.get("/{session_id}/goal", operation_id="session.goal")
@answers(GoalInfo, errors=(404,))
async def get_goal(request: HttpRequest, session_id: str) -> HttpResponse:
    """The goal of a session with its verdicts, the oldest first; 404 where there is none."""
    session = await session_of(session_id)
    return await _answer(await in_db(goals.current, session.id), session.id)


@router.post("/{session_id}/goal", operation_id="session.goal.set")
@answers(GoalInfo, errors=(404,))
async def set_goal(request: HttpRequest, session_id: str, body: NewGoal) -> HttpResponse:
    """Have the session work at it by itself, in place of the goal that it has."""
    session = await session_of(session_id)
    try:
        found = await acts.begin(session, body.terms(), **body.choice())
    except (GoalRefused, PromptRefused) as problem:
        raise HttpError(400, str(problem)) from problem
    return await _answer(found, session.id)


@router.patch("/{session_id}/goal", operation_id="session.goal.change")
@answers(GoalInfo, errors=(404,))
async def change_goal(request: HttpRequest, session_id: str, body: GoalCall) -> HttpResponse:
    """Have it mean all that is given, from its next verdict on."""
    session = await session_of(session_id)
    try:
        return await _answer(await acts.change(session, body.terms()), session.id)
    except GoalRefused as problem:
        raise HttpError(400, str(problem)) from problem


@router.post("/{session_id}/goal/{act}", operation_id="session.goal.act")
@answers(GoalInfo, errors=(404,))
async def act(request: HttpRequest, session_id: str, act: Literal["pause", "resume", "end"]) -> HttpResponse:
    """`pause` stops the turn that runs, `end` does not."""
    session = await session_of(session_id)
    try:
        return await _answer(await acts.ACTS[act](session), session.id)
    except GoalRefused as problem:
        raise HttpError(400, str(problem)) from problem


async def _answer(goal: Goal | None, session_id: str) -> HttpResponse:
    if goal is None:
        raise NotFound(f"Goal not found: {session_id}")
    return wire(await in_db(_info, goal))


def _info(goal: Goal) -> dict[str, Any]:
    used = goals.used(goal)
    hours = round(used.worked / goals.HOUR, 3)
    info = GoalInfo(
        id=goal.id,
        session_id=goal.session_id,
        objective=goal.objective,
        checks=list(goal.checks),
        budget=Budget(tokens=goal.tokens, cost=goal.cost, turns=goal.turns, hours=goal.hours),
        used=Budget(tokens=used.tokens, cost=used.cost, turns=used.turns, hours=hours),
        preset=goal.preset,
        judge=goal.judge,
        state=goal.state,
        reason=goal.reason,
        verdicts=[_verdict(one) for one in goals.verdicts(goal)],
        time=goal.time_created,
    )
    return info.wire()


def _verdict(row: Verdict) -> VerdictInfo:
    return VerdictInfo(
        number=row.number,
        message_id=row.message_id,
        checks=[CheckInfo.model_validate(one) for one in row.checks],
        word=row.word,
        words=row.words,
        outcome=row.outcome,
        reason=row.reason,
        tokens=row.tokens,
        cost=row.cost,
        time=row.time_created,
    )

"""`/comparison`, which is ours: try a task in several ways, look at what they came to, take the best."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router
from ninja.errors import HttpError
from pydantic import Field

from agents.agent.comparisons import acts, between
from agents.agent.comparisons.acts import Left
from agents.api.goals import CheckInfo
from sessions.api.base import NotFound, directory_of, project_of, wire
from sessions.api.described import answers
from sessions.changes.undo.plan import FilePlan
from sessions.core.db import in_db
from sessions.core.models import Attempt, Comparison
from sessions.core.models.ledger import shown
from sessions.core.principal import actor
from sessions.core.store import comparisons
from sessions.core.store.comparisons import AT_ONCE, ComparisonRefused, Terms, Way
from sessions.core.store.inbox import PromptRefused
from sessions.core.wire.base import FileDiff, ModelRef, Wire
from sessions.core.wire.session import Preset

router = Router()

Number = Annotated[int, Field(ge=1, le=comparisons.MOST)]


class WayInfo(Wire):
    """What an attempt works with; the default agent and its model where they are not given."""

    agent: str = ""
    model: ModelRef | None = None

    def way(self) -> Way:
        model = self.model
        if model is None:
            return Way(self.agent)
        return Way(self.agent, model.provider_id, model.model_id, model.variant or "")


class NewComparison(Wire):
    """The same `id` is the same comparison, for ever. `checks` and `judge` are as a goal has them; `preset`
    is how much is asked in the sessions."""

    id: str = Field(default="", max_length=32)
    prompt: str
    attempts: list[WayInfo]
    checks: list[str] = Field(default_factory=list)
    judge: str = Field(default="", max_length=500)
    preset: Preset | None = None
    at_once: int = Field(default=AT_ONCE, alias="atOnce")

    def terms(self) -> Terms:
        ways = [one.way() for one in self.attempts]
        return Terms(self.prompt, ways, self.checks, self.judge, self.preset or "", self.at_once)


class Take(Wire):
    """All that these attempts changed, or of one only these `files`. With `preview` nothing is written."""

    attempts: list[Number] = Field(min_length=1)
    files: list[str] | None = None
    preview: bool = False


class Combine(Wire):
    """`text` is said before the task; `agent` and `model` are those of the new session."""

    attempts: list[Number] = Field(min_length=1)
    text: str = Field(default="", max_length=20_000)
    agent: str = ""
    model: ModelRef | None = None


class Clean(Wire):
    """The `key` of what is lost with each worktree, by the number of its attempt."""

    seen: dict[int, str]


class Tests(Wire):
    passed: int = 0
    failed: int = 0
    skipped: int = 0


class Problems(Wire):
    """Errors of language servers in the files that were changed."""

    before: int
    after: int


class AttemptInfo(Wire):
    """`tests` and `problems` are not there where nobody counted; `words` are the judge's."""

    number: int
    agent: str
    model: ModelRef
    state: Literal["waiting", "making", "running", "judging", "measured", "failed"]
    doing: str
    error: str
    session_id: str | None = Field(default=None, alias="sessionID")
    directory: str | None = None
    checks: list[CheckInfo]
    tests: Tests | None = None
    problems: Problems | None = None
    files: int
    additions: int
    deletions: int
    tokens: int
    cost: float
    time: int
    words: str


class ComparisonInfo(Wire):
    """`best` is the number of the attempt that the judge finds best, 0 for none; `taken` of the one that was
    taken whole."""

    id: str
    project_id: str = Field(alias="projectID")
    prompt: str
    commit: str
    checks: list[str]
    judge: str
    preset: str
    at_once: int = Field(alias="atOnce")
    state: Literal["running", "stopping", "judging", "done"]
    best: int
    words: str
    taken: int
    attempts: list[AttemptInfo]
    time: int


class TakenFile(Wire):
    """`outcome`: restore and merge are written, already is so, anything else is left alone, for a reason."""

    file: str
    outcome: str
    reason: str
    additions: int
    deletions: int


class Taken(Wire):
    """`operation` is there where something was written: the log can take it back."""

    operation: str | None = None
    files: list[TakenFile]


class Combined(Wire):
    session_id: str = Field(alias="sessionID")


class LossInfo(Wire):
    """What removing the worktree of an attempt loses; `problem` says why it cannot go."""

    attempt: int
    key: str
    files: list[str]
    ignored: int
    commits: int
    problem: str


@router.get("", operation_id="comparison.list")
@answers(list[ComparisonInfo])
async def list_comparisons(request: HttpRequest) -> HttpResponse:
    """Those of the project, the newest first."""
    project = await project_of(request)
    found = await in_db(comparisons.listing, [project.id])
    return wire([await in_db(_info, one) for one in found])


@router.post("", operation_id="comparison.begin")
@answers(ComparisonInfo)
async def begin(request: HttpRequest, body: NewComparison) -> HttpResponse:
    """Try the task in each way, from the last commit, in worktrees of their own."""
    project = await project_of(request)
    try:
        found = await acts.begin(project, directory_of(request), body.terms(), id=body.id)
    except ComparisonRefused as problem:
        raise HttpError(400, str(problem)) from problem
    return wire(await in_db(_info, found))


@router.get("/{comparison_id}", operation_id="comparison.get")
@answers(ComparisonInfo, errors=(404,))
async def get(request: HttpRequest, comparison_id: str) -> HttpResponse:
    return wire(await in_db(_info, await _comparison(request, comparison_id)))


@router.get("/{comparison_id}/diff", operation_id="comparison.diff")
@answers(list[FileDiff], errors=(404,))
async def diff(
    request: HttpRequest,
    comparison_id: str,
    attempt: Annotated[int, Query()],
    against: Annotated[int, Query()] = 0,
) -> HttpResponse:
    """What an attempt changed, or how it differs from another one (`against`)."""
    rows = await in_db(comparisons.attempts, await _comparison(request, comparison_id))
    new, old = _numbered(rows, attempt), _numbered(rows, against) if against else None
    found = await between.wire(old, new)
    return wire([one.wire() for one in found])


@router.post("/{comparison_id}/stop", operation_id="comparison.stop")
@answers(ComparisonInfo, errors=(404,))
async def stop(request: HttpRequest, comparison_id: str) -> HttpResponse:
    """No attempt begins any more; the turns that run are stopped and measured."""
    found = await _comparison(request, comparison_id)
    await acts.stop(found)
    return wire(await in_db(_info, await _comparison(request, comparison_id)))


@router.post("/{comparison_id}/take", operation_id="comparison.take")
@answers(Taken, errors=(404,))
async def take(request: HttpRequest, comparison_id: str, body: Take) -> HttpResponse:
    """Merge what attempts changed into the files of the project, but for those where it conflicts."""
    found = await _comparison(request, comparison_id)
    chosen = None if body.files is None else dict.fromkeys(body.files)
    picks = dict.fromkeys(body.attempts, chosen)
    try:
        if body.preview:
            plans, operation = await acts.preview(found, picks), None
        else:
            operation, plans = await acts.take(found, picks, actor=actor(request))
    except ComparisonRefused as problem:
        raise HttpError(400, str(problem)) from problem
    answer = Taken(operation=operation.id if operation else None, files=[_file(plan) for plan in plans])
    return wire(answer.wire())


@router.post("/{comparison_id}/combine", operation_id="comparison.combine")
@answers(Combined, errors=(404,))
async def combine(request: HttpRequest, comparison_id: str, body: Combine) -> HttpResponse:
    """A new session that is given the patches of attempts, to make one of them."""
    found = await _comparison(request, comparison_id)
    choice = {"agent": body.agent}
    if body.model:
        choice |= {"provider_id": body.model.provider_id, "model_id": body.model.model_id}
        choice["variant"] = body.model.variant or ""
    try:
        session = await acts.combine(found, body.attempts, body.text, **choice)
    except (ComparisonRefused, PromptRefused) as problem:
        raise HttpError(400, str(problem)) from problem
    return wire(Combined(session_id=session.id).wire())


@router.get("/{comparison_id}/left", operation_id="comparison.left")
@answers(list[LossInfo], errors=(404,))
async def left(request: HttpRequest, comparison_id: str) -> HttpResponse:
    """What is in the worktrees of its attempts and nowhere else."""
    found = await acts.left(await _comparison(request, comparison_id))
    return wire([_loss(one).wire() for one in found])


@router.post("/{comparison_id}/clean", operation_id="comparison.clean")
@answers(int, errors=(404,))
async def clean(request: HttpRequest, comparison_id: str, body: Clean) -> HttpResponse:
    """Remove worktrees whose losses are those that were seen; how many went."""
    try:
        return wire(await acts.clean(await _comparison(request, comparison_id), body.seen))
    except ComparisonRefused as problem:
        raise HttpError(400, str(problem)) from problem


async def _comparison(request: HttpRequest, comparison_id: str) -> Comparison:
    """Of the project that the request is about. Raises NotFound."""
    project = await project_of(request)
    found = await in_db(comparisons.get, comparison_id)
    if found is None or found.project_id != project.id:
        raise NotFound(f"Comparison not found: {comparison_id}")
    return found


def _numbered(rows: list[Attempt], number: int) -> Attempt:
    found = next((row for row in rows if row.number == number and row.session), None)
    if found is None:
        raise NotFound(f"There is no attempt {number} with a session.")
    return found


def _info(comparison: Comparison) -> dict[str, Any]:
    return ComparisonInfo(
        id=comparison.id,
        project_id=comparison.project_id,
        prompt=comparison.prompt,
        commit=comparison.commit,
        checks=list(comparison.checks),
        judge=comparison.judge,
        preset=comparison.preset,
        at_once=comparison.at_once,
        state=comparison.state,
        best=comparison.best,
        words=comparison.words,
        taken=comparison.taken,
        attempts=[_attempt(row) for row in comparisons.attempts(comparison)],
        time=comparison.time_created,
    ).wire()


def _attempt(row: Attempt) -> AttemptInfo:
    model = ModelRef(provider_id=row.provider_id, model_id=row.model_id, variant=row.variant or None)
    problems = None
    if row.problems_before is not None and row.problems_after is not None:
        problems = Problems(before=row.problems_before, after=row.problems_after)
    return AttemptInfo(
        number=row.number,
        agent=row.agent,
        model=model,
        state=row.state,
        doing=row.doing,
        error=row.error,
        session_id=row.session_id,
        directory=row.session.directory if row.session else None,
        checks=[CheckInfo.model_validate(one) for one in row.checks],
        tests=Tests.model_validate(row.tests) if row.tests else None,
        problems=problems,
        files=row.files,
        additions=row.additions,
        deletions=row.deletions,
        tokens=row.tokens,
        cost=row.cost,
        time=row.worked,
        words=row.words,
    )


def _file(plan: FilePlan) -> TakenFile:
    return TakenFile(
        file=shown(plan.path),
        outcome=plan.outcome,
        reason=plan.reason,
        additions=plan.additions,
        deletions=plan.deletions,
    )


def _loss(one: Left) -> LossInfo:
    lost = one.losses
    return LossInfo(
        attempt=one.attempt.number,
        key=lost.key,
        files=[shown(name) for name in (*lost.changed, *lost.untracked)],
        ignored=lost.ignored,
        commits=len(lost.loose),
        problem=one.problem,
    )

"""A comparison as its page shows it: its attempts as rows of a table, in words and numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext, pgettext
from django.utils.translation.trans_null import gettext_noop

from agents.agent.comparisons.acts import is_there
from agents.toolkit.catalog import model_name
from sessions.changes.undo.plan import FilePlan
from sessions.core.models import Attempt, Comparison
from sessions.core.models.ledger import shown
from sessions.core.sentences import grouped, translate
from sessions.core.store import children, comparisons, permissions, questions

State = Comparison.State
Step = Attempt.State

STATES = {
    State.RUNNING: gettext_noop("Running"),
    State.STOPPING: gettext_noop("Stopping"),
    State.JUDGING: gettext_noop("The judge reads"),
    State.DONE: gettext_noop("Done"),
}


@dataclass(frozen=True, slots=True)
class Row:
    """An attempt; `tone` is how it stands, for colours, and `said` in words. `checks`, `tests` and `problems`
    are words, empty for nothing; `bad` names those that are not as wished. `there`: its worktree is."""

    attempt: Attempt
    name: str
    tone: str
    said: str
    checks: str
    tests: str
    problems: str
    bad: frozenset[str]
    tokens: int
    cost: float
    best: bool
    taken: bool
    there: bool

    @property
    def ended(self) -> bool:
        return self.attempt.state in (Step.MEASURED, Step.JUDGING)


def state_of(comparison: Comparison) -> str:
    """How it stands, in words."""
    return gettext(STATES[State(comparison.state)])


def goes_on(comparison: Comparison, rows: Sequence[Attempt]) -> bool:
    """Whether the page may be another one by itself."""
    return comparison.state != State.DONE or any(row.state == Step.RUNNING for row in rows)


def rows_of(comparison: Comparison, attempts: Sequence[Attempt]) -> list[Row]:
    """Runs on the ORM's thread."""
    return [_row(comparison, row) for row in attempts]


def name_of(comparison: Comparison, row: Attempt) -> str:
    """Its model and variant."""
    if not row.model_id:
        return gettext("The default model")
    name = model_name(comparison.project.worktree, row.provider_id, row.model_id)
    return f"{name} · {row.variant}" if row.variant else name


def _row(comparison: Comparison, row: Attempt) -> Row:
    tone, said = _stands(row)
    tokens, cost = row.tokens, row.cost
    if row.state == Step.RUNNING and row.session_id:
        tokens, cost = children.sums(row.session_id)
    passed = sum(bool(check["passed"]) for check in row.checks)
    tests = row.tests.get("failed", 0)
    worse = (row.problems_after or 0) > (row.problems_before or 0)
    bad = {"checks": passed < len(row.checks), "tests": tests > 0, "problems": worse}
    return Row(
        row,
        name_of(comparison, row),
        tone,
        said,
        _of(passed, len(row.checks)) if row.checks else "",
        _tests(row.tests),
        _problems(row),
        frozenset(name for name, is_bad in bad.items() if is_bad),
        tokens,
        cost,
        row.number == comparison.best,
        row.number == comparison.taken,
        is_there(row),
    )


def _stands(row: Attempt) -> tuple[str, str]:
    match Step(row.state):
        case Step.WAITING:
            return "calm", pgettext("an attempt", "Waits")
        case Step.MAKING:
            return "on", pgettext("an attempt", "Its worktree is made")
        case Step.FAILED:
            return "bad", pgettext("an attempt", "Not begun")
        case Step.RUNNING if row.doing:
            return "on", gettext("Measured: %(what)s") % {"what": translate(row.doing)}
        case Step.RUNNING if row.session_id and _asks(row.session_id):
            return "warn", pgettext("an attempt", "Waits for you")
        case Step.RUNNING:
            return "on", pgettext("an attempt", "Works")
        case Step.JUDGING:
            return "on", gettext("The judge reads")
    return ("bad", gettext("Ended with an error")) if row.error else ("good", pgettext("an attempt", "Done"))


def _asks(session_id: str) -> bool:
    return bool(permissions.pending_below(session_id) or questions.pending_below(session_id))


def _of(some: int, all: int) -> str:
    return gettext("%(some)s of %(all)s") % {
        "some": grouped(some),
        "all": grouped(all),
    }


def _tests(counts: Mapping[str, int]) -> str:
    if not counts:
        return ""
    passed, failed, skipped = (counts.get(name, 0) for name in ("passed", "failed", "skipped"))
    said = [gettext("%(count)s passed") % {"count": grouped(passed)}]
    if failed:
        said.append(gettext("%(count)s failed") % {"count": grouped(failed)})
    if skipped:
        said.append(gettext("%(count)s skipped") % {"count": grouped(skipped)})
    return ", ".join(said)


def _problems(row: Attempt) -> str:
    if row.problems_before is None or row.problems_after is None:
        return ""
    return f"{row.problems_before:,} → {row.problems_after:,}"


@dataclass(frozen=True, slots=True)
class Taken:
    """What becomes of a file; `tone` is `change`, `calm` or `warn`."""

    name: str
    tone: str
    words: str
    additions: int
    deletions: int


def taken(plan: FilePlan) -> Taken:
    tone, words = _taken(plan)
    return Taken(shown(plan.path), tone, words, plan.additions, plan.deletions)


def _taken(plan: FilePlan) -> tuple[str, str]:
    match plan.outcome:
        case "restore" if plan.result is None:
            return "change", gettext("Is removed.")
        case "restore" if plan.before_now is None:
            return "change", gettext("Is new.")
        case "restore":
            return "change", gettext("Is changed.")
        case "merge":
            return "change", gettext("Is merged into what is there now.")
        case "already":
            return "calm", gettext("Is so already.")
        case "missing":
            return "warn", gettext("Is left alone: it is not in the project any more.")
        case "conflict":
            return "warn", gettext("Is left alone: other changes are in the same place.")
    return "warn", gettext("Is left alone: %(reason)s.") % {"reason": translate(plan.reason)}


def listed(found: Sequence[Comparison]) -> list[dict[str, Any]]:
    """Comparisons for a list of them. Runs on the ORM's thread."""
    return [{"comparison": one, "state": state_of(one), "count": comparisons.count(one)} for one in found]

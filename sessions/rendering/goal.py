"""The goal of a session as its page shows it: what is to be reached, how it stands, what was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sessions.core.models import Goal, Session, Verdict
from sessions.core.store import goals
from sessions.core.store.goals import HOUR, Used

from .html import html

OUTCOMES = {
    "go_on": "Go on",
    "done": "Done",
    "blocked": "Blocked",
    "spent": "Budget spent",
    "paused": "Paused",
}
MINUTE = 60_000


@dataclass(frozen=True, slots=True)
class Checked:
    """A check with what it gave last: `passed` is None where it has not run, `words` say how it stands."""

    line: str
    passed: bool | None
    words: str


def goal_bar(session: Session, *, oob: bool = True) -> str:
    """Empty without one."""
    goal = goals.current(session.id)
    shown: dict[str, Any] = {}
    if goal is not None:
        last = goals.last_verdict(goal)
        used = goals.used(goal)
        shown = {
            "short": f"goal {str(goal.get_state_display()).lower()}, {_turns(used.turns)}",
            "checks": _checked(goal, last),
            "used": " · ".join(_used(goal, used)),
            "judged": last.words if last else "",
        }
    return html("goals/bar.html", session=session, goal=goal, oob=oob, **shown)


def _checked(goal: Goal, last: Verdict | None) -> list[Checked]:
    found = {one["check"]: one for one in last.checks} if last else {}
    return [_stands(line, found.get(line), runs=goal.doing == line) for line in goal.checks]


def _stands(line: str, last: dict[str, Any] | None, *, runs: bool) -> Checked:
    if last is None:
        return Checked(line, None, "runs" if runs else "not yet")
    return Checked(line, last["passed"], "runs" if runs else _ended(last))


def _ended(one: dict[str, Any]) -> str:
    """How a check ended, in a word or two: its status, or the last that it said."""
    if one["passed"]:
        return "passed"
    said = [line for line in str(one["output"]).splitlines() if line.strip()]
    return f"exit {one['exit']}" if one["exit"] else said[-1].strip() if said else "failed"


def _turns(number: int) -> str:
    return f"{number:,} turn{'' if number == 1 else 's'}"


def _used(goal: Goal, used: Used) -> list[str]:
    """What was used of each budget, in words."""
    found = [f"{used.turns:,} of {_turns(goal.turns)}" if goal.turns else _turns(used.turns)]
    tokens = f"{used.tokens:,}"
    found.append(f"{tokens} of {goal.tokens:,} tokens" if goal.tokens else f"{tokens} tokens")
    if goal.cost or used.cost:
        found.append(f"${used.cost:,.2f} of ${goal.cost:,.2f}" if goal.cost else f"${used.cost:,.2f}")
    if goal.hours:
        found.append(f"{_hours(used.worked)} of {goal.hours:g} h")
    return found


def _hours(worked: int) -> str:
    return f"{worked / HOUR:.1f} h" if worked >= HOUR else f"{worked // MINUTE} min"


@dataclass(frozen=True, slots=True)
class Row:
    """A verdict in words, with what it was found by; `reason` where it is another than the judge's."""

    verdict: Verdict
    outcome: str
    word: str
    reason: str
    checks: Sequence[dict[str, Any]]


def verdict_rows(goal: Goal) -> list[Row]:
    """The newest first."""
    return [
        Row(
            one,
            OUTCOMES.get(one.outcome, one.outcome),
            OUTCOMES.get(one.word, ""),
            one.reason if one.reason != one.words else "",
            [{**check, "ended": _ended(check)} for check in one.checks],
        )
        for one in reversed(goals.verdicts(goal))
    ]

"""The goal of a session as its page shows it: what is to be reached, how it stands, what was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext, ngettext, pgettext
from django.utils.translation.trans_null import gettext_noop

from sessions.core.models import Goal, Session, Verdict
from sessions.core.sentences import grouped
from sessions.core.store import goals
from sessions.core.store.goals import HOUR, Used

from .html import html

OUTCOMES = {
    "go_on": gettext_noop("Go on"),
    "active": gettext_noop("Active"),
    "done": gettext_noop("Done"),
    "blocked": gettext_noop("Blocked"),
    "spent": gettext_noop("Budget spent"),
    "paused": gettext_noop("Paused"),
}
"""What came of a turn, and how a goal stands, in words."""
MINUTE = 60_000


@dataclass(frozen=True, slots=True)
class Checked:
    """A check with what it gave last: `passed` is None where it has not run, `words` say how it stands."""

    line: str
    passed: bool | None
    words: str


@dataclass(frozen=True, slots=True)
class Facts:
    """How a goal stands in words: its state, what was used of each budget, its checks."""

    state: str
    used: str
    checks: Sequence[Checked]


def goal_facts(goal: Goal) -> Facts:
    return Facts(
        state_of(goal),
        " · ".join(_used(goal, goals.used(goal))),
        _checked(goal, goals.last_verdict(goal)),
    )


def goal_bar(session: Session, *, oob: bool = True) -> str:
    """Empty without one."""
    goal = goals.current(session.id)
    shown: dict[str, Any] = {}
    if goal is not None:
        last = goals.last_verdict(goal)
        used = goals.used(goal)
        shown = {
            "short": f"{gettext('Goal')}: {state_of(goal)}, {_turns(used.turns)}",
            "state": state_of(goal),
            "checks": _checked(goal, last),
            "used": " · ".join(_used(goal, used)),
            "judged": last.words if last else "",
        }
    return html("goals/bar.html", session=session, goal=goal, oob=oob, **shown)


def state_of(goal: Goal) -> str:
    return _worded(goal.state)


def _worded(outcome: str) -> str:
    return gettext(OUTCOMES[outcome]) if outcome in OUTCOMES else ""


def _checked(goal: Goal, last: Verdict | None) -> list[Checked]:
    found = {one["check"]: one for one in last.checks} if last else {}
    return [_stands(line, found.get(line), runs=goal.doing == line) for line in goal.checks]


def _stands(line: str, last: dict[str, Any] | None, *, runs: bool) -> Checked:
    if last is None:
        return Checked(line, None, pgettext("a check", "runs") if runs else pgettext("a check", "not yet"))
    return Checked(line, last["passed"], pgettext("a check", "runs") if runs else _ended(last))


def _ended(one: dict[str, Any]) -> str:
    """How a check ended, in a word or two: its status, or the last that it said."""
    if one["passed"]:
        return pgettext("a check", "passed")
    said = [line for line in str(one["output"]).splitlines() if line.strip()]
    if one["exit"]:
        return pgettext("a check", "exit %(status)s") % {"status": one["exit"]}
    return said[-1].strip() if said else pgettext("a check", "failed")


def _turns(number: int) -> str:
    return ngettext("%(count)s turn", "%(count)s turns", number) % {"count": grouped(number)}


def _used(goal: Goal, used: Used) -> list[str]:
    """What was used of each budget, in words."""
    found = [_of(grouped(used.turns), _turns(goal.turns)) if goal.turns else _turns(used.turns)]
    found.append(_of(grouped(used.tokens), _tokens(goal.tokens)) if goal.tokens else _tokens(used.tokens))
    if goal.cost:
        found.append(_of(f"${used.cost:,.2f}", f"${goal.cost:,.2f}"))
    elif used.cost:
        found.append(f"${used.cost:,.2f}")
    if goal.hours:
        found.append(_of(_hours(used.worked), f"{goal.hours:g} h"))
    return found


def _of(used: str, most: str) -> str:
    return gettext("%(used)s of %(most)s") % {"used": used, "most": most}


def _tokens(number: int) -> str:
    return ngettext("%(count)s token", "%(count)s tokens", number) % {"count": grouped(number)}


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
            _worded(one.outcome),
            _worded(one.word),
            one.reason if one.reason != one.words else "",
            [{**check, "ended": _ended(check)} for check in one.checks],
        )
        for one in reversed(goals.verdicts(goal))
    ]

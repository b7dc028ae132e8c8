"""Goals: what a session works at by itself, turn after turn, until its finish line is reached.

A session with an active goal and nothing else to do is due a verdict. A verdict and what it leads to, the
next prompt or another state, are one transaction: so a crash leaves either a turn that is to be judged, or a
prompt that is to be answered (docs/decisions/0064-goals.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext, ngettext
from django.utils.translation.trans_null import gettext_noop

from sessions.core.db import durable
from sessions.core.ids import ascending, now
from sessions.core.models import AdmittedPrompt, Goal, Message, Resumption, Session, Verdict
from sessions.core.prepared import Prepared
from sessions.core.sentences import grouped
from sessions.core.wire.session import Preset

from . import children, events, inbox, notifiers, presets, resumption
from . import sessions as session_store
from .order import last_id

MARK = "goal"
"""In the metadata of a prompt's part: the goal that it is of."""
LONGEST = 20_000
MOST_CHECKS = 20
LARGEST = (10**15, 10**9, 10**6, 10**6)
"""Budgets: tokens, US dollars, turns, hours."""
MOST_STALLED = 3
"""After so many verdicts in a row that saw no progress a goal is blocked."""
MOST_TRIES = 3
"""How often checks begin for one verdict: it may be one of them that ends the server."""
HOUR = 3_600_000
NEVER_ENDED = "The server ended each time while the checks ran, {tries} times in a row."
CUT_OFF = gettext_noop("The server ended each time while this turn went on.")
BY_YOU = gettext_noop("Paused by you.")
TOO_LONG = "MessageOutputLengthError"
"""The one error after which the next prompt is of help: an answer that was cut at its limit."""

State = Goal.State
_OPEN = (State.ACTIVE, State.PAUSED, State.DONE, State.BLOCKED, State.SPENT)


class GoalRefused(ValueError):
    """It cannot be set, or not be gone on with; the text is for the person."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a person sets: an objective, what has to hold at its end, and what it may use; see `Goal`."""

    objective: str
    checks: Sequence[str] = ()
    tokens: int = 0
    cost: float = 0.0
    turns: int = 0
    hours: float = 0.0
    preset: str = ""
    judge: str = ""

    def check(self) -> None:
        """Raises GoalRefused."""
        if not self.objective.strip():
            raise GoalRefused(gettext("Say what is to be reached."))
        if len(self.objective) > LONGEST or any(len(line) > LONGEST for line in self.checks):
            raise GoalRefused(
                gettext("This is too long: at most %(longest)s characters.") % {"longest": grouped(LONGEST)}
            )
        if len(self.checks) > MOST_CHECKS:
            raise GoalRefused(gettext("At most %(most)s checks.") % {"most": MOST_CHECKS})
        given = (self.tokens, self.cost, self.turns, self.hours)
        if not all(0 <= value <= most for value, most in zip(given, LARGEST, strict=True)):
            raise GoalRefused(gettext("A budget is a number from 0, where 0 means no end."))
        if not self.checks and self.judge == NOBODY:
            raise GoalRefused(gettext("Give it a check, or a judge: nothing would say when it is done."))


NOBODY = "none"
"""In the place of a judge."""


@dataclass(frozen=True, slots=True)
class Used:
    """By a goal until now; `worked` in milliseconds."""

    turns: int
    tokens: int
    cost: float
    worked: int

    def spent(self, goal: Goal) -> str:
        """Which budget is used up, in words; empty for none."""
        found = (
            (
                goal.turns,
                self.turns,
                ngettext("%(count)s turn", "%(count)s turns", goal.turns) % {"count": f"{goal.turns:,}"},
            ),
            (goal.tokens, self.tokens, gettext("%(count)s tokens") % {"count": f"{goal.tokens:,}"}),
            (goal.cost, self.cost, f"${goal.cost:,.2f}"),
            (goal.hours * HOUR, self.worked, gettext("%(count)s hours") % {"count": f"{goal.hours:g}"}),
        )
        return next(
            (
                gettext("Its budget is used up: %(words)s.") % {"words": words}
                for most, used, words in found
                if most and used >= most
            ),
            "",
        )


def current(session_id: str) -> Goal | None:
    """The newest goal of a session, unless a person has ended it."""
    return Goal.objects.filter(session_id=session_id, state__in=_OPEN).order_by("-id").first()


def active(session_id: str) -> Goal | None:
    """The one that the session works at."""
    return _ACTIVE.first(session_id)


_ACTIVE = Prepared(lambda session_id: Goal.objects.filter(session_id=session_id).filter(state="active"))


def free() -> QuerySet[Goal]:
    """Those that are worked at, in sessions that nobody works in."""
    return Goal.objects.filter(state=State.ACTIVE, session__time_deleted=None, session__lease_owner="")


def verdicts(goal: Goal) -> list[Verdict]:
    """The oldest first."""
    return list(Verdict.objects.filter(goal=goal).order_by("number"))


def last_verdict(goal: Goal) -> Verdict | None:
    return Verdict.objects.filter(goal=goal).order_by("-number").first()


def used(goal: Goal) -> Used:
    """By the session and those below it since the goal began. Each turn has a verdict but the one at work."""
    turns = Verdict.objects.filter(goal=goal).count()
    tokens, cost = children.sums(goal.session_id)
    worked = goal.worked + (now() - goal.time_active if goal.time_active else 0)
    return Used(turns, max(tokens - goal.tokens_before, 0), max(cost - goal.cost_before, 0.0), max(worked, 0))


def is_spent(session_id: str) -> bool:
    """Whether the session works at a goal whose budget is used up."""
    goal = active(session_id)
    return goal is not None and bool(used(goal).spent(goal))


def begin(
    session: Session,
    terms: Terms,
    prompt: Callable[[Goal], list[dict[str, Any]]],
    *,
    actor: str = "",
    **choice: Any,
) -> Goal:
    """Set a goal in place of the one there is. `prompt` gives the parts of the first prompt, which is
    admitted with `choice` (see `inbox.admit`). The same message id is the same goal, for ever. Raises
    GoalRefused and PromptRefused."""
    terms.check()
    if session.parent_id:
        raise GoalRefused(gettext("A goal is set in the conversation itself, not in one of its subagents'."))
    with durable(), transaction.atomic():
        locked = session_store.locked(session.id)
        known = _of_prompt(session.id, str(choice.get("message_id") or ""))
        if known is not None:
            return known
        for old in Goal.objects.filter(session=session, state__in=_OPEN):
            _leave(old, State.ENDED, gettext_noop("Another goal took its place."))
        tokens, cost = children.sums(session.id)
        moment = now()
        goal = Goal(
            id=ascending("goal"),
            session=session,
            actor=actor,
            before=locked.preset,
            after=last_id(session.id),
            tokens_before=tokens,
            cost_before=cost,
            time_active=moment,
            time_created=moment,
        )
        _take(goal, terms)
        goal.save(force_insert=True)
        _raise(goal, actor)
        inbox.admit(session, prompt(goal), actor=actor, **choice)
        _tell(goal)
    return goal


def _of_prompt(session_id: str, message_id: str) -> Goal | None:
    if not message_id:
        return None
    rows = Goal.objects.filter(session_id=session_id)
    waiting = AdmittedPrompt.objects.filter(id=message_id, session_id=session_id).first()
    named = Q(id=message_id) | Q(prompt_id=message_id)
    message = Message.objects.filter(named, session_id=session_id).first()
    parts = waiting.parts if waiting else [part.data for part in message.parts.all()] if message else []
    goals = [(part.get("metadata") or {}).get(MARK) for part in parts]
    return rows.filter(id__in=[goal for goal in goals if goal]).first()


def _take(goal: Goal, terms: Terms) -> None:
    goal.objective, goal.checks = terms.objective.strip(), list(terms.checks)
    goal.tokens, goal.cost, goal.turns, goal.hours = terms.tokens, terms.cost, terms.turns, terms.hours
    goal.preset, goal.judge = terms.preset, terms.judge


def change(session: Session, terms: Terms, actor: str = "") -> Goal:
    """Have the goal that there is mean something else from its next verdict on. Raises GoalRefused."""
    terms.check()
    with transaction.atomic():
        goal = _locked(session.id)
        was = goal.preset
        _take(goal, terms)
        if goal.state == State.ACTIVE and was != goal.preset:
            _lower(goal, was)
            _raise(goal, actor)
        goal.save()
        _tell(goal)
    return goal


def go_on(session: Session, actor: str = "") -> Goal:
    """Work at it again: what a person has paused, what is blocked, and what was done and is to be looked at
    once more. Raises GoalRefused."""
    with durable(), transaction.atomic():
        goal = _locked(session.id)
        if goal.state == State.ACTIVE:
            return goal
        if words := used(goal).spent(goal):
            raise GoalRefused(gettext("%(words)s Give it more first.") % {"words": words})
        row = session_store.locked(session.id)
        goal.state, goal.reason, goal.tries, goal.actor = State.ACTIVE, "", 0, actor or goal.actor
        goal.before, goal.after, goal.time_active = row.preset, last_id(session.id), now()
        _forgive(goal)
        goal.save()
        _raise(goal, actor)
        _tell(goal)
    return goal


def pause(session_id: str, reason: str = BY_YOU) -> Goal | None:
    """Until a person has it go on; its prompt that waits is taken back. None where none is active."""
    with transaction.atomic():
        goal = Goal.objects.select_for_update().filter(session_id=session_id, state=State.ACTIVE).first()
        if goal is not None:
            _leave(goal, State.PAUSED, reason)
        return goal


def end(session_id: str) -> Goal | None:
    """A person wants it no longer. None where there is none."""
    with transaction.atomic():
        goal = current(session_id)
        if goal is not None:
            _leave(goal, State.ENDED, gettext_noop("Ended by you."))
        return goal


def halt(goal: Goal, state: Goal.State, reason: str) -> None:
    """It cannot go on, whatever its checks say."""
    with transaction.atomic():
        found = _still(goal)
        if found is not None:
            _leave(found, state, reason)


def look(goal: Goal, doing: str, *, begins: bool = False) -> bool:
    """Tell what its checks are at; whether it is still to be looked at. `begins`: for the first of them."""
    with transaction.atomic():
        found = _still(goal)
        if found is None:
            return False
        found.tries += begins
        if found.tries > MOST_TRIES:
            _leave(found, State.BLOCKED, NEVER_ENDED.format(tries=MOST_TRIES))
            return False
        found.doing = doing
        found.save(update_fields=["doing", "tries"])
        _tell(found)
        return True


def obstacle(goal: Goal) -> str:
    """Why the last turn is not to be judged, in words; empty where it may be."""
    return obstacle_after(goal.session_id, goal.after)


def obstacle_after(session_id: str, after: str = "") -> str:
    """How the last turn of a session ended, in words, where that was an error, or the end of the server.
    Errors before the message `after` do not count."""
    last = Message.objects.filter(session_id=session_id).order_by("-id").first()
    if last is None or last.id <= after:
        return ""
    if last.role == "user":
        tried = Resumption.objects.filter(prompt=last, tries__gte=resumption.MOST_TRIES).exists()
        return CUT_OFF if tried else ""
    error = last.data.get("error") or {}
    if error.get("name") == TOO_LONG:
        return ""
    return str((error.get("data") or {}).get("message") or error.get("name") or "")


def settle(goal: Goal, verdict: Verdict, prompt: Callable[[], list[dict[str, Any]]]) -> str:
    """Write a verdict and what follows it in one. `verdict` has what was found, `word`, `outcome` and
    `reason`; numbers and sums are put in here. Where it says `go_on`, `prompt` gives the parts of the next
    prompt. The outcome; empty where the goal was paused, changed or ended meanwhile: then nothing is
    written."""
    with durable(), transaction.atomic():
        found = _still(goal)
        if found is None:
            return ""
        before = last_verdict(found)
        verdict.goal, verdict.number = found, before.number + 1 if before else 1
        verdict.message_id, verdict.time_created = last_id(found.session_id), now()
        _count(verdict, before)
        if verdict.outcome == "go_on" and verdict.stalled >= MOST_STALLED:
            verdict.outcome = State.BLOCKED.value
            verdict.reason = verdict.reason or f"{MOST_STALLED} turns brought nothing new."
        verdict.save(force_insert=True)
        spent = used(found)
        verdict.tokens, verdict.cost, verdict.worked = spent.tokens, spent.cost, spent.worked
        if verdict.outcome == "go_on" and (words := spent.spent(found)):
            verdict.outcome, verdict.reason = State.SPENT.value, words
        if verdict.outcome == "go_on":
            try:
                inbox.admit(found.session, prompt(), actor=found.actor)
            except inbox.PromptRefused as refused:
                verdict.outcome, verdict.reason = State.PAUSED.value, str(refused)
        verdict.save()
        if verdict.outcome == "go_on":
            found.doing, found.tries = "", 0
            found.save(update_fields=["doing", "tries"])
            _tell(found)
        else:
            _leave(found, State(verdict.outcome), verdict.reason)
        return verdict.outcome


def _count(verdict: Verdict, before: Verdict | None) -> None:
    """A turn made no progress after which the same fails and nothing else is changed, or that the judge calls
    blocked."""
    same = before is not None and before.digest == verdict.digest
    stands = verdict.outcome == "go_on" and (same or verdict.word == "blocked")
    verdict.stalled = (before.stalled if before else 0) + 1 if stands else 0


def _forgive(goal: Goal) -> None:
    """A person has it go on, who may have cleared the way: it is counted from here."""
    Verdict.objects.filter(goal=goal).update(stalled=0)


def _locked(session_id: str) -> Goal:
    """Raises GoalRefused."""
    rows = Goal.objects.select_for_update().filter(session_id=session_id, state__in=_OPEN)
    goal = rows.order_by("-id").first()
    if goal is None:
        raise GoalRefused(gettext("There is no goal here any more."))
    return goal


def _still(goal: Goal) -> Goal | None:
    """The row, if it is active and means the same as it did."""
    found = Goal.objects.select_for_update().filter(id=goal.id, state=State.ACTIVE).first()
    if found is None or found.checks != goal.checks or found.objective != goal.objective:
        return None
    return found


def _leave(goal: Goal, state: Goal.State, reason: str) -> None:
    """It is active no more: its time stands, its prompt that waits is withdrawn, and the session asks as much
    as before, unless a person has chosen otherwise since."""
    was = goal.state
    goal.state, goal.reason, goal.doing, goal.tries = state, reason, "", 0
    if goal.time_active is not None:
        goal.worked, goal.time_active = goal.worked + max(now() - goal.time_active, 0), None
    goal.save()
    for row in AdmittedPrompt.objects.filter(session_id=goal.session_id):
        if any((part.get("metadata") or {}).get(MARK) == goal.id for part in row.parts):
            inbox.withdraw(goal.session_id, row.id)
    if was == State.ACTIVE:
        _lower(goal, goal.preset)
        if state != State.ENDED and reason != BY_YOU:
            notifiers.reached(goal)
    _tell(goal)


def _raise(goal: Goal, actor: str) -> None:
    """While it is active the session asks as much as was chosen for it, if anything was."""
    if goal.preset:
        presets.switch(goal.session, cast(Preset, goal.preset), actor)


def _lower(goal: Goal, preset: str) -> None:
    row = session_store.get(goal.session_id)
    if row is not None and preset and row.preset == preset:
        presets.switch(row, cast(Preset, goal.before), goal.actor)


def _tell(goal: Goal) -> None:
    session = goal.session
    properties = {"sessionID": session.id, "goalID": goal.id, "state": str(goal.state)}
    events.record("session.goal", properties, project=session.project_id, session=session.id)

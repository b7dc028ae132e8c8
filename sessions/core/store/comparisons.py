"""Comparisons: one task that is tried several ways at once, each in a session and a worktree of its own.

What happens to an attempt is one transaction each: it is claimed; its worktree, session and prompt are there;
it is measured; all are judged. So a crash leaves an attempt of which exactly one of these comes next, and
whoever finds that in the rows does it (docs/decisions/0066-comparisons.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop

from sessions.core import workers
from sessions.core.db import durable
from sessions.core.gate import OPEN, gate
from sessions.core.ids import ascending, now
from sessions.core.models import Attempt, Comparison, Message, Project, Session
from sessions.core.sentences import grouped
from sessions.core.wire.session import Preset, SessionModel

from . import children, events, inbox, presets, projects, quotas
from . import sessions as session_store
from .goals import LONGEST, MOST_CHECKS, NOBODY, obstacle_after

FEWEST, MOST = 2, 12
"""Attempts of a comparison."""
AT_ONCE = 3
"""Unless another number is chosen."""
MOST_TRIES = 3
"""How often measuring begins: it may be one of the checks that ends the server."""
CLAIM_MS = 15 * 60_000
"""After so long a worktree is made by another worker, where it is not known whether the first one lives."""
NEVER_ENDED = "The server ended each time while it was measured, {tries} times in a row."
STOPPED = gettext_noop("You stopped it.")
GONE = gettext_noop("Its session was deleted.")

_ID = re.compile(r"cmp_[0-9a-f]{12}[0-9A-Za-z]{14}")
_TITLE = 60

State = Comparison.State
Step = Attempt.State
_OPEN = (Step.WAITING, Step.MAKING, Step.RUNNING)
_DUE = (Step.RUNNING, Step.JUDGING)


class ComparisonRefused(ValueError):
    """It cannot be begun, or not be done to it; the text is for the person."""


@dataclass(frozen=True, slots=True)
class Way:
    """What an attempt works with; empty for the default ones."""

    agent: str = ""
    provider_id: str = ""
    model_id: str = ""
    variant: str = ""

    @property
    def model(self) -> SessionModel | None:
        if not self.model_id:
            return None
        return SessionModel(id=self.model_id, provider_id=self.provider_id, variant=self.variant or None)


@dataclass(frozen=True, slots=True)
class Terms:
    """What a person sets: the task, the ways in which it is tried, and how these are compared; see
    `Comparison`."""

    prompt: str
    ways: Sequence[Way]
    checks: Sequence[str] = ()
    judge: str = ""
    preset: str = ""
    at_once: int = AT_ONCE

    def check(self) -> None:
        """Raises ComparisonRefused."""
        if not self.prompt.strip():
            raise ComparisonRefused(gettext("Say what is to be done."))
        if len(self.prompt) > LONGEST or any(len(line) > LONGEST for line in self.checks):
            raise ComparisonRefused(
                gettext("This is too long: at most %(longest)s characters.") % {"longest": grouped(LONGEST)}
            )
        if len(self.checks) > MOST_CHECKS:
            raise ComparisonRefused(gettext("At most %(most)s checks.") % {"most": MOST_CHECKS})
        if not FEWEST <= len(self.ways) <= MOST:
            raise ComparisonRefused(
                gettext("Compare %(fewest)s to %(most)s attempts.") % {"fewest": FEWEST, "most": MOST}
            )
        if not 1 <= self.at_once <= MOST:
            raise ComparisonRefused(gettext("Of the attempts, 1 to %(most)s work at once.") % {"most": MOST})


@dataclass(frozen=True, slots=True)
class Measure:
    """What was found of an attempt; see `Attempt`."""

    checks: Sequence[Mapping[str, Any]] = ()
    tests: Mapping[str, int] | None = None
    problems: tuple[int, int] | None = None
    files: int = 0
    additions: int = 0
    deletions: int = 0
    error: str = ""


def get(comparison_id: str) -> Comparison | None:
    return Comparison.objects.select_related("project").filter(id=comparison_id).first()


def listing(project_ids: Iterable[str], limit: int = 50) -> list[Comparison]:
    """Of some projects, the newest first."""
    return list(Comparison.objects.filter(project_id__in=list(project_ids)).order_by("-id")[:limit])


def attempts(comparison: Comparison) -> list[Attempt]:
    """In order, each with its session and the project of that."""
    rows = Attempt.objects.select_related("session__project").filter(comparison=comparison)
    return list(rows.order_by("number"))


def count(comparison: Comparison) -> int:
    """Of its attempts."""
    return Attempt.objects.filter(comparison=comparison).count()


def begin(
    project: Project, terms: Terms, commit: str, *, folder: str = "", id: str = "", actor: str = ""
) -> Comparison:
    """Note what is to be tried, from a commit of the project. The same id is the same comparison, for ever.
    Raises ComparisonRefused."""
    terms.check()
    if id and not _ID.fullmatch(id):
        raise ComparisonRefused(gettext("This is no id of a comparison."))
    if closed := gate(project.id).closed or quotas.refusal(actor):
        raise ComparisonRefused(closed)
    with durable(), transaction.atomic():
        known = Comparison.objects.filter(id=id).first() if id else None
        if known is not None:
            if known.project_id != project.id:
                raise ComparisonRefused(gettext("This id is in use in another project."))
            return known
        comparison = Comparison.objects.create(
            id=id or ascending("cmp"),
            project=project,
            folder=folder,
            prompt=terms.prompt.strip(),
            commit=commit,
            checks=list(terms.checks),
            judge=terms.judge,
            preset=terms.preset,
            at_once=terms.at_once,
            actor=actor,
            time_created=now(),
        )
        for number, way in enumerate(terms.ways, 1):
            Attempt.objects.create(
                comparison=comparison,
                number=number,
                agent=way.agent,
                provider_id=way.provider_id,
                model_id=way.model_id,
                variant=way.variant,
            )
        _tell(comparison)
    return comparison


# An attempt begins: a worker claims it, makes its worktree, and notes all that is there then.


def claim(owner: str) -> Attempt | None:
    """An attempt that may begin now, which `owner` is to make the worktree of; None where none may."""
    for comparison_id in list(Comparison.objects.filter(state=State.RUNNING).values_list("id", flat=True)):
        with transaction.atomic():
            comparison = _locked(comparison_id)
            if comparison.state != State.RUNNING or gate(comparison.project_id) != OPEN:
                continue
            found = _next(comparison)
            if found is not None:
                found.state, found.owner, found.time_claimed = Step.MAKING, owner, now()
                found.save(update_fields=["state", "owner", "time_claimed"])
                found.comparison = comparison
                _tell(comparison)
                return found
    return None


def _next(comparison: Comparison) -> Attempt | None:
    rows = list(Attempt.objects.filter(comparison=comparison).order_by("number"))
    free = [row for row in rows if row.state == Step.WAITING or _is_left(row)]
    working = sum(row.state in (Step.MAKING, Step.RUNNING) for row in rows if row not in free)
    return free[0] if free and working < comparison.at_once else None


def _is_left(row: Attempt) -> bool:
    """Whether nobody makes its worktree any more."""
    if row.state != Step.MAKING:
        return False
    return workers.is_dead(row.owner) or now() - row.time_claimed > CLAIM_MS


def begun(claimed: Attempt, worktree: Project, directory: str, parts: list[dict[str, Any]]) -> Session | None:
    """Its worktree is there: keep that as a project, with a session in it and the prompt in its inbox. None
    where it is no longer to begin, or by somebody else: then nothing is kept. Raises PromptRefused."""
    with durable(), transaction.atomic():
        comparison = _locked(claimed.comparison_id)
        attempt = _claimed(claimed)
        if attempt is None:
            return None
        way = Way(attempt.agent, attempt.provider_id, attempt.model_id, attempt.variant)
        projects.add_worktree(worktree)
        title = f"{_short(comparison.prompt)} · {attempt.number}"
        session = session_store.create(worktree, directory, title=title, agent=way.agent, model=way.model)
        if comparison.preset:
            presets.switch(session, cast(Preset, comparison.preset), comparison.actor)
        inbox.admit(
            session,
            parts,
            agent=way.agent,
            provider_id=way.provider_id,
            model_id=way.model_id,
            variant=way.variant,
            actor=comparison.actor,
        )
        attempt.session, attempt.state, attempt.owner = session, Step.RUNNING, ""
        attempt.save(update_fields=["session", "state", "owner"])
        _tell(comparison)
    return session


def _claimed(claimed: Attempt) -> Attempt | None:
    """The row, if nobody else has claimed it since, and it was not stopped."""
    rows = Attempt.objects.filter(id=claimed.id, state=Step.MAKING, owner=claimed.owner)
    return rows.filter(time_claimed=claimed.time_claimed).first()


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _TITLE else f"{line[: _TITLE - 1]}…"


def fail(claimed: Attempt, reason: str) -> None:
    """It cannot begin: there is no worktree for it, or its prompt is refused."""
    with transaction.atomic():
        comparison = _locked(claimed.comparison_id)
        attempt = _claimed(claimed)
        if attempt is not None:
            _end(attempt, Step.FAILED, reason)
            _settle(comparison)


# It is measured by the session itself, where nothing else is to be done in it.


def due(session_id: str) -> Attempt | None:
    """The attempt that a session is, if it is to be measured or to judge."""
    rows = Attempt.objects.select_related("comparison__project")
    return rows.filter(session_id=session_id, state__in=_DUE).first()


def free() -> QuerySet[Attempt]:
    """Those that are to be measured or to judge, in sessions that nobody works in."""
    return Attempt.objects.filter(state__in=_DUE, session__time_deleted=None, session__lease_owner="")


def look(attempt: Attempt, doing: str, *, begins: bool = False) -> bool:
    """Tell what is measured of it; whether it still is to be. `begins`: for the first of it."""
    with transaction.atomic():
        comparison = _locked(attempt.comparison_id)
        found = _still(attempt)
        if found is None:
            return False
        found.tries += begins
        if found.tries > MOST_TRIES:
            words = NEVER_ENDED.format(tries=MOST_TRIES)
            if found.state == Step.JUDGING:
                _finish(comparison, found, words)
            else:
                _measured(comparison, found, Measure(error=words))
            return False
        found.doing = doing
        found.save(update_fields=["doing", "tries"])
        _tell(comparison)
        return True


def obstacle(attempt: Attempt) -> str:
    """How its last turn ended where that was not in order, in words."""
    return obstacle_after(attempt.session_id) if attempt.session_id else GONE


def measured(attempt: Attempt, measure: Measure) -> str:
    """Write what was found of it; where it was the last one, the comparison is to be judged then, or done.
    Nothing where it was stopped meanwhile. The session that is to judge now, empty for none."""
    with durable(), transaction.atomic():
        comparison = _locked(attempt.comparison_id)
        found = _still(attempt)
        if found is not None and found.state == Step.RUNNING:
            _measured(comparison, found, measure)
        judge = Attempt.objects.filter(comparison=comparison, state=Step.JUDGING).first()
        return (judge.session_id or "") if judge else ""


def _measured(comparison: Comparison, attempt: Attempt, measure: Measure) -> None:
    attempt.checks, attempt.tests = [dict(one) for one in measure.checks], dict(measure.tests or {})
    attempt.problems_before, attempt.problems_after = measure.problems or (None, None)
    attempt.files = measure.files
    attempt.additions, attempt.deletions = measure.additions, measure.deletions
    _end(attempt, Step.MEASURED, attempt.error or measure.error)
    _settle(comparison)


def judged(attempt: Attempt, best: int, reason: str, words: Mapping[int, str]) -> None:
    """Write what the judge says: of all, and by number of each. Nothing where that was stopped meanwhile."""
    with durable(), transaction.atomic():
        comparison = _locked(attempt.comparison_id)
        found = _still(attempt)
        if found is None or found.state != Step.JUDGING:
            return
        for number, said in words.items():
            Attempt.objects.filter(comparison=comparison, number=number).update(words=said)
        comparison.best = best
        _finish(comparison, found, reason)


def _end(attempt: Attempt, state: Attempt.State, error: str) -> None:
    attempt.state, attempt.error, attempt.doing, attempt.owner, attempt.tries = state, error, "", "", 0
    if attempt.session_id:
        attempt.tokens, attempt.cost = children.sums(attempt.session_id)
        attempt.worked = _worked(attempt.session_id)
    attempt.save()


def _worked(session_id: str) -> int:
    """From when its first prompt was taken until its last message ended, in milliseconds."""
    rows = Message.objects.filter(session_id=session_id).order_by("id")
    first, last = rows.first(), rows.last()
    if first is None or last is None:
        return 0
    ended = (last.data.get("time") or {}).get("completed") or last.time_created
    return max(int(ended) - first.time_created, 0)


def _settle(comparison: Comparison) -> None:
    """What follows where an attempt came to its end: others begin, or all are judged, or nothing more."""
    rows = Attempt.objects.filter(comparison=comparison)
    if rows.filter(state__in=_OPEN).exists():
        _tell(comparison)
        return
    there = rows.filter(state=Step.MEASURED, session__time_deleted=None).exclude(session=None)
    judge = there.order_by("number").first()
    if comparison.judge == NOBODY or judge is None or comparison.state != State.RUNNING:
        _finish(comparison, None, comparison.words)
        return
    judge.state = Step.JUDGING
    judge.save(update_fields=["state"])
    comparison.state = State.JUDGING
    comparison.save(update_fields=["state"])
    _tell(comparison)


def _finish(comparison: Comparison, judge: Attempt | None, words: str) -> None:
    if judge is not None:
        judge.state, judge.doing, judge.tries = Step.MEASURED, "", 0
        judge.save(update_fields=["state", "doing", "tries"])
    comparison.state, comparison.words, comparison.time_ended = State.DONE, words, now()
    comparison.save()
    _tell(comparison)


# What a person does.


def stop(comparison: Comparison) -> list[str]:
    """No attempt begins any more, and nobody judges; the ids of the sessions that are to be stopped now. What
    they have done by then is measured."""
    with transaction.atomic():
        row = _locked(comparison.id)
        rows = list(Attempt.objects.filter(comparison=row, state__in=(Step.WAITING, Step.MAKING)))
        for attempt in rows:
            _end(attempt, Step.FAILED, STOPPED)
        if row.state == State.RUNNING:
            row.state, row.words = State.STOPPING, STOPPED
            row.save(update_fields=["state", "words"])
            _settle(row)
        working = Attempt.objects.filter(comparison=row, state__in=_DUE).exclude(session=None)
        found = [str(id) for id in working.values_list("session_id", flat=True)]
        for session_id in found:
            for prompt in inbox.waiting(session_id):
                inbox.withdraw(session_id, prompt.id)
        return found


def interrupted(session_id: str) -> None:
    """A person has stopped a session: what is measured of it, or judged in it, ends there. A turn that ran is
    measured as far as it came."""
    found = due(session_id)
    if found is None:
        return
    with transaction.atomic():
        comparison = _locked(found.comparison_id)
        attempt = _still(found)
        if attempt is None:
            return
        session = Session.objects.get(id=session_id)
        words = STOPPED if session.time_deleted is None else GONE
        if attempt.state == Step.JUDGING:
            _finish(comparison, attempt, words)
        elif attempt.doing or words == GONE:
            _measured(comparison, attempt, Measure(error=words))
        elif session.lease_owner:
            attempt.error = words
            attempt.save(update_fields=["error"])


def measure_again(attempt: Attempt) -> None:
    """It was gone on with by hand: it is measured once more, and nobody judges. Raises ComparisonRefused."""
    with transaction.atomic():
        comparison = _locked(attempt.comparison_id)
        if comparison.state != State.DONE or attempt.state != Step.MEASURED or attempt.session_id is None:
            raise ComparisonRefused(
                gettext("It is measured when all have ended, and as long as its session is there.")
            )
        Attempt.objects.filter(id=attempt.id).update(state=Step.RUNNING, tries=0, error="")
        _tell(comparison)


def took(comparison: Comparison, number: int) -> None:
    """The changes of an attempt went into the project; of several, that of none alone (0)."""
    with transaction.atomic():
        row = _locked(comparison.id)
        row.taken = number
        row.save(update_fields=["taken"])
        _tell(row)


def settle_orphans() -> None:
    """Attempts whose session is gone: nobody is left who could measure them, or judge."""
    gone = Q(session=None) | Q(session__time_deleted__isnull=False)
    for attempt in Attempt.objects.filter(gone, state__in=_DUE):
        with transaction.atomic():
            comparison = _locked(attempt.comparison_id)
            found = _still(attempt)
            if found is None:
                continue
            if found.state == Step.JUDGING:
                _finish(comparison, found, GONE)
            else:
                _measured(comparison, found, Measure(error=GONE))


def _locked(comparison_id: str) -> Comparison:
    """The row, which nobody else changes until the transaction ends."""
    rows = Comparison.objects.select_related("project").select_for_update(of=("self",))
    return rows.get(id=comparison_id)


def _still(attempt: Attempt) -> Attempt | None:
    """The row, if the same is still due of it."""
    return Attempt.objects.filter(id=attempt.id, state=attempt.state, session=attempt.session_id).first()


def _tell(comparison: Comparison) -> None:
    properties = {"comparisonID": comparison.id, "state": str(comparison.state)}
    events.record("comparison.updated", properties, project=comparison.project_id)

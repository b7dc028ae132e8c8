"""Schedules and their occurrences: what is due is claimed by writing its row, and begins in one transaction
with the session and the prompt of its run (docs/decisions/0065-schedules.md).

A row of an occurrence is there once for each time, commit or call. So a crash leaves one that nobody has
claimed yet, one that waits to begin, or a session with a prompt that is to be answered; and of two servers
that look at the same moment one is first.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import Any, Protocol, cast

from django.db import connection, transaction
from django.db.models import Exists, F, Min, OuterRef, Q
from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop

from sessions.core.db import durable
from sessions.core.ids import ascending, now
from sessions.core.models import (
    Goal,
    Message,
    Occurrence,
    PermissionRequest,
    Project,
    QuestionRequest,
    Schedule,
    Session,
)
from sessions.core.prepared import Prepared
from sessions.core.sentences import grouped
from sessions.core.wire.messages import ABORTED
from sessions.core.wire.session import Preset, SessionModel

from . import children, events, family, goals, presets, pursuits, resumption
from . import sessions as session_store
from .leases import Clock

CHANGED = "schedule.updated"
MARK = "schedule"
"""In the metadata of a prompt's parts: the occurrence that it is of."""
NAMED = "schedule_name"
"""The same, in the part that says so: its name."""
LONGEST = 100_000
LONGEST_NAME = 200
MOST = 500
"""Schedules of a project."""
MOST_KEPT = 500
"""Occurrences of a schedule: older ones are forgotten."""
MOST_RESULT = 4_000
LARGEST_COST = 10**9
MOST_MINUTES = 60 * 24 * 30
HOUR = 3_600_000
MINUTE = 60_000
LAST_WORDS = 2 * MINUTE
"""After its time a run may end in words; it is stopped so much later."""

State = Occurrence.State
Cause = Occurrence.Cause
Kind = Schedule.Kind
ENDED = (State.DONE, State.FAILED, State.BLOCKED, State.SPENT, State.STOPPED, State.SKIPPED)

NEWER = gettext_noop("A newer one took its place while another run was going on.")
MISSED = gettext_noop("Nobody was there at its time.")
NOT_BEGUN = gettext_noop("It was stopped before it began.")
GONE = gettext_noop("Its session was deleted.")
TIME_OVER = gettext_noop("Its time was over.")
COST_OVER = gettext_noop("What it may cost was used up.")


class ScheduleRefused(ValueError):
    """It cannot be set like this; the text is for the person."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a person, or a file, sets; see `Schedule`."""

    name: str
    kind: str
    rule: str
    zone: str
    text: str
    catch_up: bool = True
    goal: dict[str, Any] | None = None
    agent: str = ""
    model: str = ""
    variant: str = ""
    preset: str = ""
    worktree: bool = False
    cost: float = 0.0
    minutes: int = 0
    payload: bool = False

    def check(self) -> None:
        """Raises ScheduleRefused."""
        if not self.name.strip() or len(self.name) > LONGEST_NAME:
            raise ScheduleRefused(
                gettext("Give it a name of at most %(most)s characters.") % {"most": LONGEST_NAME}
            )
        if not self.text.strip():
            raise ScheduleRefused(gettext("Say what is to be done."))
        if max(len(self.text), len(self.rule)) > LONGEST:
            raise ScheduleRefused(
                gettext("This is too long: at most %(longest)s characters.") % {"longest": grouped(LONGEST)}
            )
        if self.kind not in Kind.values:
            raise ScheduleRefused(gettext("Say when it is to be done."))
        if not (0 <= self.cost <= LARGEST_COST and 0 <= self.minutes <= MOST_MINUTES):
            raise ScheduleRefused(gettext("A limit is a number from 0, where 0 means no end."))
        if len(self.model) > LONGEST_NAME or max(map(len, (self.agent, self.variant))) > 64:
            raise ScheduleRefused(gettext("A name of an agent or a model is shorter."))


_TERMS = tuple(field.name for field in fields(Terms))


def terms_of(schedule: Schedule) -> Terms:
    return Terms(**{name: getattr(schedule, name) for name in _TERMS})


def moment() -> int:
    """The database's time in milliseconds, by which all servers go."""
    if connection.vendor == "sqlite":
        return now()
    return int(Project.objects.order_by().values_list(Clock(), flat=True).first() or now())


# What there is.


def get(schedule_id: str) -> Schedule | None:
    return Schedule.objects.select_related("project").filter(id=schedule_id).first()


def listing(project_ids: Collection[str] | None = None) -> list[Schedule]:
    """Of some projects, or of all: those that come next first, then by name."""
    rows = Schedule.objects.select_related("project")
    if project_ids is not None:
        rows = rows.filter(project_id__in=list(project_ids))
    return list(rows.order_by("paused", F("due").asc(nulls_last=True), "name", "id"))


_ANY = Prepared(lambda: Schedule.objects.only("id")[:1])


def exist() -> bool:
    """Whether there is any, of whatever project."""
    return bool(_ANY.rows())


def in_force() -> list[Schedule]:
    """Those that nobody has paused and that nothing keeps from counting."""
    return list(Schedule.objects.select_related("project").filter(paused=False, problem=""))


def of_files(project_id: str) -> dict[str, Schedule]:
    """Those of a project's files, by path."""
    rows = Schedule.objects.select_related("project").filter(project_id=project_id).exclude(file="")
    return {row.file: row for row in rows}


def with_files() -> set[str]:
    """The ids of projects with schedules in files."""
    return set(Schedule.objects.exclude(file="").values_list("project_id", flat=True))


def by_secret(digest: str) -> Schedule | None:
    """The one whose address has the secret of this digest."""
    return Schedule.objects.select_related("project").filter(secret=digest).exclude(secret="").first()


def occurrences(schedule_id: str, limit: int = 50) -> list[Occurrence]:
    """The newest first."""
    rows = Occurrence.objects.select_related("session", "schedule").filter(schedule_id=schedule_id)
    return list(rows.order_by("-id")[:limit])


def newest(schedule_ids: Collection[str]) -> dict[str, Occurrence]:
    """The newest occurrence of each of some schedules."""
    later = Occurrence.objects.filter(schedule=OuterRef("schedule"), id__gt=OuterRef("id"))
    rows = Occurrence.objects.select_related("session").filter(schedule__in=list(schedule_ids))
    return {row.schedule_id: row for row in rows.filter(~Exists(later))}


def asking(session_ids: Collection[str]) -> set[str]:
    """Of sessions those in which, or below which, a person is asked something."""
    return {
        session_id
        for session_id in session_ids
        for ids in [[session_id, *(row.id for row in family.below(session_id))]]
        if PermissionRequest.objects.filter(session__in=ids, state="pending").exists()
        or QuestionRequest.objects.filter(session__in=ids, state="pending").exists()
    }


# What a person does.


def create(
    project: Project,
    terms: Terms,
    *,
    due: int | None,
    seen: str = "",
    secret: str = "",
    actor: str = "",
    **of_file: Any,
) -> Schedule:
    """`of_file` are `file`, `digest`, `problem` and `paused` of one that is in a file. Raises
    ScheduleRefused."""
    terms.check()
    with durable(), transaction.atomic():
        if Schedule.objects.filter(project=project).count() >= MOST:
            raise ScheduleRefused(gettext("A project may have %(most)s schedules.") % {"most": MOST})
        time = now()
        row = Schedule(
            id=ascending("sch"), project=project, actor=actor, time_created=time, time_updated=time, **of_file
        )
        _take(row, terms)
        row.due, row.seen, row.secret = due, seen, secret
        row.save(force_insert=True)
        _tell(row)
    return row


def keep_file(project: Project, name: str, terms: Terms, **columns: Any) -> Schedule:
    """Have the row of this file mean this; whoever else reads the same file just now makes no second one.
    `columns` are those of `create`. Raises ScheduleRefused."""
    with durable(), transaction.atomic():
        Project.objects.select_for_update().filter(id=project.id).first()  # one reader after another
        row = Schedule.objects.filter(project=project, file=name).first()
        if row is None:
            return create(project, terms, file=name, **columns)
        return change(row, terms, **columns)


def change(schedule: Schedule, terms: Terms, *, due: int | None, seen: str, **more: Any) -> Schedule:
    """Have it mean this from now on; what waits or runs goes on. `more` are other columns. Raises
    ScheduleRefused."""
    terms.check()
    with durable(), transaction.atomic():
        row = _locked(schedule.id)
        _take(row, terms)
        row.due, row.seen = due, seen
        for name, value in more.items():
            setattr(row, name, value)
        _save(row)
    return row


def update(schedule: Schedule, **columns: Any) -> Schedule:
    """Change columns, such as `paused` with `due`. Raises ScheduleRefused where it is gone."""
    with durable(), transaction.atomic():
        row = _locked(schedule.id)
        for name, value in columns.items():
            setattr(row, name, value)
        _save(row)
    return row


def remove(schedule_id: str) -> bool:
    """With what it remembers of its runs; their sessions stay. Whether there was one."""
    with transaction.atomic():
        row = Schedule.objects.filter(id=schedule_id).first()
        if row is None:
            return False
        _tell(row)
        row.delete()
    return True


def _take(row: Schedule, terms: Terms) -> None:
    for name in _TERMS:
        setattr(row, name, getattr(terms, name))
    row.name, row.text = terms.name.strip(), terms.text.strip()


def _locked(schedule_id: str) -> Schedule:
    row = Schedule.objects.select_for_update().filter(id=schedule_id).first()
    if row is None:
        raise ScheduleRefused(gettext("This schedule is not here any more."))
    return row


def _save(row: Schedule) -> None:
    row.time_updated = now()
    row.save()
    _tell(row)


# What happens: a time comes, files change, an address is called.


def nearest() -> int | None:
    """The next moment at which something is to be done by the clock (ms)."""
    due = Schedule.objects.filter(paused=False, problem="").aggregate(Min("due"))["due__min"]
    until = Occurrence.objects.filter(state=State.RUNS).aggregate(Min("until"))["until__min"]
    found = [due, until + LAST_WORDS if until is not None else None]
    return min((moment for moment in found if moment is not None), default=None)


def due(moment: int) -> list[Schedule]:
    """What is due by the clock at a moment (ms)."""
    rows = Schedule.objects.select_related("project").filter(paused=False, problem="", due__lte=moment)
    return list(rows.order_by("due", "id"))


@dataclass(frozen=True, slots=True)
class Happened:
    """One occurrence that is to be: `key` is what it is there for once. With a `reason` it is only noted that
    it is left out."""

    key: str
    cause: str
    due: int
    reason: str = ""
    payload: str = ""


def pass_on(schedule: Schedule, happened: Happened | None, **columns: Any) -> Occurrence | None:
    """A time or a change was seen: put `due` or `seen` (of `columns`) in the place of what `schedule` has,
    and write what happened, in one. None where another was first, or it happened before."""
    as_seen = Schedule.objects.filter(
        id=schedule.id, paused=False, problem="", due=schedule.due, seen=schedule.seen
    )
    with durable(), transaction.atomic():
        if not as_seen.update(**columns):
            return None
        return _note(schedule, happened) if happened else None


def note(schedule: Schedule, happened: Happened) -> Occurrence | None:
    """Write what happened by itself, as a call or by hand; None where it happened before."""
    with durable(), transaction.atomic():
        return _note(schedule, happened)


def _note(schedule: Schedule, happened: Happened) -> Occurrence | None:
    left_out = bool(happened.reason)
    row, is_new = Occurrence.objects.get_or_create(
        schedule=schedule,
        key=happened.key,
        defaults={
            "cause": happened.cause,
            "due": happened.due,
            "state": State.SKIPPED if left_out else State.WAITS,
            "reason": happened.reason,
            "payload": happened.payload,
            "time_created": now(),
            "time_ended": now() if left_out else None,
        },
    )
    if is_new:
        _tell(schedule)
    return row if is_new else None


def of_last_hour(schedule_id: str, causes: Collection[str]) -> int:
    """How often something of these kinds happened."""
    rows = Occurrence.objects.filter(schedule_id=schedule_id, cause__in=list(causes))
    return rows.filter(time_created__gt=now() - HOUR).count()


# Runs.


def to_begin() -> list[Occurrence]:
    """Of each schedule without a run the newest occurrence that waits; those before it are left out."""
    waiting = Occurrence.objects.select_related("schedule", "schedule__project").filter(state=State.WAITS)
    at_work = set(Occurrence.objects.filter(state=State.RUNS).values_list("schedule_id", flat=True))
    found: dict[str, Occurrence] = {}
    for row in waiting.order_by("id"):
        before = found.get(row.schedule_id)
        if before is not None:
            end(before, State.SKIPPED, NEWER)
        found[row.schedule_id] = row
    return [row for row in found.values() if row.schedule_id not in at_work]


class Prompter(Protocol):
    """Admits what a run begins with: see `inbox.admit` and `goals.begin`."""

    def __call__(self, session: Session, *, actor: str) -> object: ...


def begin(
    occurrence: Occurrence,
    project: Project,
    prompt: Prompter,
    *,
    agent: str = "",
    model: SessionModel | None = None,
) -> Session | None:
    """Its run: a session of its own with the prompt. None where another was first, or the schedule has
    another run. Raises PromptRefused and GoalRefused."""
    schedule = occurrence.schedule
    time = now()
    with durable(), transaction.atomic():
        Schedule.objects.select_for_update().filter(id=schedule.id).first()  # one run at a time
        others = Occurrence.objects.filter(schedule=schedule, state=State.RUNS)
        if others.exists():
            return None
        until = time + schedule.minutes * MINUTE if schedule.minutes else None
        taken = Occurrence.objects.filter(id=occurrence.id, state=State.WAITS)
        if not taken.update(state=State.RUNS, time_begun=time, until=until):
            return None
        session = session_store.create(
            project, project.worktree, title=schedule.name, agent=agent, model=model
        )
        Occurrence.objects.filter(id=occurrence.id).update(session=session)
        if schedule.preset:
            presets.switch(session, cast(Preset, schedule.preset), schedule.actor)
        prompt(session, actor=schedule.actor)
        _tell(schedule)
    return session


def running() -> list[Occurrence]:
    rows = Occurrence.objects.select_related("schedule", "schedule__project", "session")
    return list(rows.filter(state=State.RUNS).order_by("id"))


_RUN = Prepared(
    lambda session_id: (
        Occurrence.objects.filter(session_id=session_id).filter(state="runs").order_by("id")[:1]
    )
)


def run_of(session_id: str) -> Occurrence | None:
    """The run that a session is at work for."""
    return _RUN.first(session_id)


def has_budget(session_id: str) -> bool:
    """Whether a goal, or the schedule of its run, may say that a session has used enough."""
    return goals.active(session_id) is not None or run_of(session_id) is not None


def is_spent(session_id: str) -> bool:
    """Whether one of them says so."""
    if goals.is_spent(session_id):
        return True
    run = run_of(session_id)
    return run is not None and bool(_used_up(run))


def _used_up(run: Occurrence) -> str:
    """Why a run is to go on no more, in words; empty while it may."""
    if run.until is not None and run.until <= now():
        return TIME_OVER
    spent = 0 < run.schedule.cost <= _cost(str(run.session_id))
    return COST_OVER if spent else ""


def is_over(run: Occurrence, moment: int) -> bool:
    """Whether it was given the time for its last words, too."""
    return run.until is not None and run.until + LAST_WORDS <= moment


def _cost(session_id: str) -> float:
    own = Session.objects.filter(id=session_id).values_list("cost", flat=True).first() or 0.0
    return own + children.spent_below(session_id)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended: `reason` why, `result` what was said last."""

    state: str
    reason: str = ""
    result: str = ""


def outcome(occurrence: Occurrence) -> Outcome | None:
    """What came of its run; None while that goes on."""
    session = Session.objects.filter(id=occurrence.session_id).first() if occurrence.session_id else None
    if session is None or session.time_deleted is not None:
        return Outcome(State.STOPPED, GONE)
    idle = (session.status or {}).get("type", "idle") == "idle"
    if session.lease_owner or not idle or pursuits.has_work(session.id) or resumption.state(session.id):
        return None
    result = children.last_text(session.id, "")[:MOST_RESULT]
    goal = goals.current(session.id)
    if goal is not None and not occurrence.schedule.goal:
        goal = None  # a person has set it since
    if goal is not None:
        states = {
            Goal.State.DONE: State.DONE,
            Goal.State.BLOCKED: State.BLOCKED,
            Goal.State.SPENT: State.SPENT,
        }
        return Outcome(states.get(Goal.State(goal.state), State.STOPPED), goal.reason, result)
    if session.error:
        said = str((session.error.get("data") or {}).get("message") or session.error.get("name") or "")
        stopped = session.error.get("name") == ABORTED
        return Outcome(State.STOPPED if stopped else State.FAILED, said, result)
    if not Message.objects.filter(session=session, role="assistant").exists():
        return Outcome(State.STOPPED, NOT_BEGUN)
    used_up = _used_up(occurrence)
    return Outcome(State.SPENT if used_up else State.DONE, used_up, result)


def end(occurrence: Occurrence, state: str, reason: str = "", result: str = "", **columns: Any) -> bool:
    """It is over; `columns` are those of the schedule that change with it. False where it does not stand any
    more as `occurrence` has it: another has begun or ended it."""
    told = state not in (State.SKIPPED, State.STOPPED) or reason == TIME_OVER
    with transaction.atomic():
        rows = Occurrence.objects.filter(id=occurrence.id, state=occurrence.state)
        if not rows.update(state=state, reason=reason, result=result, unread=told, time_ended=now()):
            return False
        if columns:
            Schedule.objects.filter(id=occurrence.schedule_id).update(**columns)
        _tell(occurrence.schedule)
    return True


# How they ended, for a person to look at.


def unread() -> list[Occurrence]:
    """Those that have ended and nobody has looked at: neither at their session nor here."""
    rows = Occurrence.objects.select_related("schedule", "schedule__project", "session")
    looked_at = Q(session__isnull=False, session__unread=False) & ~Q(state=State.STOPPED)
    return list(rows.filter(unread=True).exclude(looked_at).order_by("time_ended"))


def read(occurrence_id: int) -> Occurrence | None:
    """A person has looked at how one ended; None where it is gone."""
    with transaction.atomic():
        row = Occurrence.objects.select_related("schedule", "session").filter(id=occurrence_id).first()
        if row is not None:
            Occurrence.objects.filter(id=row.id).update(unread=False)
            if row.session_id:
                session_store.read(row.session_id)
            _tell(row.schedule)
    return row


def occurrence(occurrence_id: int) -> Occurrence | None:
    return Occurrence.objects.select_related("schedule", "session").filter(id=occurrence_id).first()


def prune() -> None:
    """Forget old occurrences, but for those that go on."""
    for schedule_id in Schedule.objects.values_list("id", flat=True):
        rows = Occurrence.objects.filter(schedule_id=schedule_id)
        last = rows.order_by("-id").values_list("id", flat=True)[MOST_KEPT : MOST_KEPT + 1]
        for oldest in list(last):
            rows.filter(id__lte=oldest, state__in=ENDED).delete()


def _tell(schedule: Schedule) -> None:
    properties = {"scheduleID": schedule.id}
    events.record(CHANGED, properties, project=schedule.project_id)

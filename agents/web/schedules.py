"""The pages of schedules: all there are, one with its runs, the form that makes or changes one; and the
address by which another program calls one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.urls import reverse
from django.utils.dates import WEEKDAYS, WEEKDAYS_ABBR
from django.utils.formats import date_format
from django.utils.translation import gettext, pgettext
from django.utils.translation.trans_null import gettext_noop
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from agents.agent.schedules import acts, times
from agents.agent.schedules.acts import TooOften
from agents.agent.schedules.times import BadTime, When
from agents.config.configuration import load
from agents.toolkit.catalog import providers_of
from agents.toolkit.definitions import known_agents
from agents.web.choice_pages import presets_at
from sessions.core.db import in_db
from sessions.core.models import Occurrence, Project, Schedule
from sessions.core.principal import person_of, sees
from sessions.core.sharing import base_of
from sessions.core.store import projects, schedules
from sessions.core.store.goals import NOBODY
from sessions.core.store.schedules import ScheduleRefused, State, Terms
from sessions.rendering.schedule import Run, run_row
from sessions.web.access import Located, project_of
from sessions.web.respond import beside, done, fragment, page, redirect, toast

NEXT = 5
"""Times that are told ahead."""
RUNS = 50
_DELIVERIES = (
    "Idempotency-Key",
    "X-GitHub-Delivery",
    "X-Gitlab-Event-UUID",
    "X-Forgejo-Delivery",
    "X-Gitea-Delivery",
)
"""Headers by which a call that is sent again is known."""
WAYS = {
    "daily": gettext_noop("Every day, or on some days"),
    "once": gettext_noop("Once"),
    "cron": gettext_noop("By a cron expression"),
    "files": gettext_noop("When files change"),
    "commit": gettext_noop("On a new commit"),
    "hook": gettext_noop("When an address is called"),
}
"""As the form asks; `daily` is a cron expression, too."""


@dataclass(frozen=True, slots=True)
class Row:
    """A schedule in words: `when`, and `state` where it is not simply in force."""

    schedule: Schedule
    when: str
    next: str
    state: str
    problem: str
    last: Run | None


@require_GET
async def show(request: HttpRequest) -> HttpResponse:
    """All that who asks may see, or those of `?project=`, whose files are read anew."""
    asked, chosen = await _seen(request)
    unread = await acts.read_files(chosen) if chosen else []
    return await page(
        request,
        "schedules/page.html",
        projects=asked,
        chosen=chosen,
        rows=await _rows(asked, chosen),
        unread=unread,
        listed=_listed(chosen),
    )


@require_GET
async def listing(request: HttpRequest) -> HttpResponse:
    """The list alone, as it is now."""
    asked, chosen = await _seen(request)
    rows = await _rows(asked, chosen)
    return fragment("schedules/list.html", rows=rows, chosen=chosen, listed=_listed(chosen))


def _listed(chosen: Project | None) -> str:
    return reverse("schedule-list") + (f"?project={chosen.id}" if chosen else "")


async def _seen(request: HttpRequest) -> tuple[list[Project], Project | None]:
    """The projects, and the one that is asked for."""
    person = person_of(request)
    every = [row for row in await in_db(projects.listed) if sees(person, row.id) and not row.worktree_of_id]
    named = request.GET.get("project", "")
    chosen = next((row for row in every if row.id == named), None)
    if named and chosen is None:  # a worktree: its schedules are those of what it was made from
        found = await in_db(projects.get, named)
        chosen = next((row for row in every if found and row.id == found.worktree_of_id), None)
    return sorted(every, key=lambda row: row.name.casefold()), chosen


async def _rows(asked: Sequence[Project], chosen: Project | None) -> list[Row]:
    wanted = [chosen.id] if chosen else [row.id for row in asked]
    return await in_db(_read_rows, wanted)


def _read_rows(project_ids: Sequence[str]) -> list[Row]:
    found = schedules.listing(project_ids)
    last = schedules.newest([row.id for row in found])
    asks = schedules.asking([run.session_id for run in last.values() if run.session_id and _runs(run)])
    return [_row(row, last.get(row.id), asks) for row in found]


def _row(schedule: Schedule, last: Occurrence | None, asks: set[str]) -> Row:
    over = schedule.kind == Schedule.Kind.ONCE and schedule.due is None and not schedule.problem
    state = gettext("Paused") if schedule.paused else pgettext("a schedule", "Over") if over else ""
    return Row(
        schedule,
        when_words(schedule),
        _moment(schedule.due, schedule.zone) if schedule.due is not None else "",
        state,
        gettext(schedule.problem) if schedule.problem else "",
        run_row(last, asks) if last else None,
    )


def _runs(row: Occurrence) -> bool:
    return row.state == State.RUNS


def _moment(milliseconds: int, zone: str) -> str:
    place = times.zone_of(zone) if zone in times.zones() else None
    return _written(datetime.fromtimestamp(milliseconds / 1000, place))


def _written(time: datetime) -> str:
    # Translators: day of the week, day and time of day, in the letters of Django's filter `date`.
    return date_format(time, pgettext("format of a date", "D d M Y, H:i"))


def when_words(schedule: Schedule) -> str:
    """When it is due, in words."""
    kind, rule, zone = schedule.kind, schedule.rule, schedule.zone
    if kind == Schedule.Kind.CRON and (daily := times.as_daily(rule)):
        return _daily_words(*daily, zone)
    if kind == Schedule.Kind.CRON:
        return gettext("cron %(rule)s (%(zone)s)") % {"rule": rule, "zone": zone}
    if kind == Schedule.Kind.ONCE:
        return gettext("Once, %(time)s (%(zone)s)") % {"time": rule.replace("T", " "), "zone": zone}
    if kind == Schedule.Kind.FILES:
        return gettext("When one of these changes: %(files)s") % {"files": ", ".join(rule.splitlines())}
    if kind == Schedule.Kind.COMMIT:
        return gettext("On a new commit on %(branch)s") % {"branch": rule}
    return gettext("When its address is called")


def _daily_words(time: str, days: str, zone: str) -> str:
    if days == "*":
        return gettext("Every day at %(time)s (%(zone)s)") % {"time": time, "zone": zone}
    named = ", ".join(str(WEEKDAYS_ABBR[(int(day) - 1) % 7]) for day in days.split(",") if day.isdigit())
    return gettext("%(days)s at %(time)s (%(zone)s)") % {"days": named, "time": time, "zone": zone}


# One of them.


async def schedule_of(project_id: str, schedule_id: str) -> Schedule:
    """Raises Http404."""
    row = await in_db(schedules.get, schedule_id)
    if row is None or row.project_id != project_id:
        raise Http404(gettext("This schedule is not here any more."))
    return row


@require_http_methods(["GET", "POST"])
async def schedule(request: HttpRequest, project_id: str, schedule_id: str) -> HttpResponse:
    """GET its page with its runs and its form, its file read anew; POST changes it."""
    row = await schedule_of(project_id, schedule_id)
    if request.method == "POST":
        try:
            await acts.change(row, await _terms(request, row.project))
        except ScheduleRefused as problem:
            return beside("schedule", str(problem))
        return redirect(row.get_absolute_url())
    if row.file:
        await acts.read_files(row.project)
        row = await schedule_of(project_id, schedule_id)
    return await page(
        request,
        "schedules/schedule.html",
        project=row.project,
        schedule=row,
        row=await in_db(_one, row),
        runs=await in_db(_run_rows, row.id),
        upcoming=_upcoming(When.of(row)) if not row.paused and not row.problem else [],
        **await _form(request, row.project, row),
    )


def _one(row: Schedule) -> Row:
    return _row(row, schedules.newest([row.id]).get(row.id), set())


def _run_rows(schedule_id: str) -> list[Run]:
    found = schedules.occurrences(schedule_id, RUNS)
    asks = schedules.asking([row.session_id for row in found if row.session_id and _runs(row)])
    return [run_row(row, asks) for row in found]


@require_GET
async def runs(_: HttpRequest, project_id: str, schedule_id: str) -> HttpResponse:
    """Its runs alone, as they are now."""
    row = await schedule_of(project_id, schedule_id)
    return fragment("schedules/runs.html", schedule=row, runs=await in_db(_run_rows, row.id))


@require_http_methods(["GET", "POST"])
async def new(request: HttpRequest, project_id: str) -> HttpResponse:
    """GET the form of a new one; POST makes it."""
    project = await project_of(project_id)
    if request.method == "POST":
        try:
            row = await acts.create(project, await _terms(request, project))
        except ScheduleRefused as problem:
            return beside("schedule", str(problem))
        return redirect(row.get_absolute_url())
    return await page(request, "schedules/new.html", project=project, **await _form(request, project, None))


@require_GET
async def upcoming(request: HttpRequest, project_id: str) -> HttpResponse:
    """The next times of what the form says now."""
    await project_of(project_id)
    try:
        kind, rule = _rule(request.GET)
        found, problem = _upcoming(When(kind, rule, request.GET.get("zone", ""))), ""
    except BadTime as error:
        kind, found, problem = "", [], str(error)
    by_clock = kind in (Schedule.Kind.ONCE, Schedule.Kind.CRON)
    return fragment("schedules/times.html", upcoming=found, problem=problem, by_clock=by_clock)


def _upcoming(when: When) -> list[str]:
    return [_written(time) for time in when.upcoming(_now(), NEXT)] if when.by_clock else []


def _now() -> int:
    return int(datetime.now().timestamp() * 1000)


@require_POST
async def act(request: HttpRequest, project_id: str, schedule_id: str, act: str) -> HttpResponse:
    """Run it now, pause it, have it go on, remove it."""
    row = await schedule_of(project_id, schedule_id)
    if act not in acts.ACTS:
        raise Http404
    try:
        await acts.ACTS[act](row)
    except ScheduleRefused as problem:
        return toast(str(problem))
    if act == "remove":
        return redirect(f"{reverse('schedules')}?project={project_id}")
    if act == "run":
        return toast(gettext("“%(name)s” begins.") % {"name": row.name})
    return redirect(row.get_absolute_url())


@require_POST
async def address(request: HttpRequest, project_id: str, schedule_id: str) -> HttpResponse:
    """A new address, which is shown this once; the one before opens nothing any more."""
    row = await schedule_of(project_id, schedule_id)
    path = reverse("hook", args=(await acts.new_secret(row),))
    url = f"{base_of(request).removesuffix(settings.BASE_PATH)}{path}"
    return fragment("schedules/address.html", schedule=row, url=url)


@require_POST
async def read_run(request: HttpRequest, project_id: str, schedule_id: str, run: int) -> HttpResponse:
    """A person has looked at how a run ended."""
    row = await in_db(schedules.occurrence, run)
    if row is None or row.schedule_id != schedule_id or row.schedule.project_id != project_id:
        raise Http404(gettext("This schedule is not here any more."))
    await in_db(schedules.read, run)
    return done()


@require_POST
async def hook(request: HttpRequest, secret: str) -> HttpResponse:
    """Another program calls a schedule by its address, which is all that it needs to know (rule 1 of
    docs/security.md): 202, and whether a run comes of it."""
    delivery = next(filter(None, (request.headers.get(name) for name in _DELIVERIES)), "")
    try:
        _, found = await acts.called(secret, request.body.decode("utf-8", "replace"), delivery)
    except LookupError:
        return JsonResponse({"error": "this address opens nothing"}, status=404)
    except TooOften:
        answer = JsonResponse({"error": f"at most {acts.MOST_AN_HOUR} calls an hour"}, status=429)
        answer["Retry-After"] = "600"
        return answer
    return JsonResponse({"accepted": found is not None}, status=202)


# The form.


async def _form(request: HttpRequest, project: Project, row: Schedule | None) -> Mapping[str, Any]:
    place = Located(Path(project.worktree), None, project)
    config = (await asyncio.to_thread(load, place.directory)).config
    providers = await providers_of(place.directory)
    modes, _ = await presets_at(request, place)
    way, when = _way(row)
    goal = (row.goal if row else None) or {}
    return {
        "given": row,
        "way": way,
        "ways": [(name, gettext(label)) for name, label in WAYS.items()],
        "when": when,
        "days": [(str((day + 1) % 7), WEEKDAYS[day]) for day in range(7)],
        "zones": sorted(times.zones()),
        "zone": row.zone if row else times.local_zone(),
        "goal": row is not None and row.goal is not None,
        "checks": "\n".join(goal.get("checks", [])),
        "judge": goal.get("judge", ""),
        "turns": goal.get("turns", 0),
        "nobody": NOBODY,
        "agents": [agent.name for agent in known_agents(config).values() if agent.primary],
        "models": [model for one in providers.values() for model in one.models.values()],
        "modes": modes.items(),
    }


def _way(row: Schedule | None) -> tuple[str, dict[str, Any]]:
    """How the form asks for the rule of a schedule, and what stands in its fields."""
    if row is None:
        return "daily", {"time": "09:00", "days": []}
    if row.kind == Schedule.Kind.CRON and (daily := times.as_daily(row.rule)):
        return "daily", {"time": daily[0], "days": [] if daily[1] == "*" else daily[1].split(",")}
    return row.kind, {row.kind: row.rule}


def _rule(form: QueryDict) -> tuple[str, str]:
    """Kind and rule of a form. Raises BadTime."""
    way = form.get("when", "")
    if way == "daily":
        days = [day for day in form.getlist("day") if day in "0123456" and len(day) == 1]
        return Schedule.Kind.CRON, times.daily(form.get("time", ""), ",".join(days) or "*")
    if way == "cron":
        return Schedule.Kind.CRON, times.expression(form.get("cron", ""))
    if way == "once":
        return Schedule.Kind.ONCE, times.once(form.get("once", ""))
    if way in WAYS:
        return way, form.get(way, "").replace("\r\n", "\n")
    raise BadTime(gettext("Say when it is to be done."))


async def _terms(request: HttpRequest, project: Project) -> Terms:
    """What the form says. Raises ScheduleRefused."""
    form = request.POST
    place = Located(Path(project.worktree), None, project)
    preset = form.get("preset", "")
    if preset and preset not in (await presets_at(request, place))[0]:
        raise ScheduleRefused(gettext("There is no such mode here."))
    try:
        kind, rule = _rule(form)
        cost, minutes = float(form.get("cost") or 0), int(form.get("minutes") or 0)
        turns = int(form.get("turns") or 0)
    except BadTime as problem:
        raise ScheduleRefused(str(problem)) from problem
    except ValueError as problem:
        raise ScheduleRefused(gettext("A limit is a number.")) from problem
    goal = None
    if "goal" in form:
        goal = {"checks": form.get("checks", "").splitlines(), "judge": form.get("judge", ""), "turns": turns}
    return Terms(
        form.get("name", ""),
        kind,
        rule,
        form.get("zone", ""),
        form.get("text", "").replace("\r\n", "\n"),
        catch_up=form.get("catch_up", "once") == "once",
        goal=goal,
        agent=form.get("agent", ""),
        model=form.get("model", ""),
        preset=preset,
        worktree="worktree" in form,
        cost=cost,
        minutes=minutes,
        payload="payload" in form,
    )

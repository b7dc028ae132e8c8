"""What is done with a comparison by a click: begun, stopped, taken from, combined, cleaned up."""

from __future__ import annotations

import asyncio
from itertools import zip_longest

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_http_methods, require_POST

from agents.agent.comparisons import acts
from agents.config.configuration import load
from agents.toolkit.catalog import providers_of
from agents.toolkit.definitions import known_agents
from agents.web.choice_pages import presets_at
from agents.web.comparisons import diffs, shown
from agents.web.comparisons.pages import attempt_of, found
from sessions.changes.undo.plan import WRITES
from sessions.core.db import in_db
from sessions.core.principal import actor
from sessions.core.store.comparisons import AT_ONCE, MOST, ComparisonRefused, Terms, Way
from sessions.core.store.goals import NOBODY
from sessions.core.store.inbox import PromptRefused
from sessions.web.access import Located, located, project_of
from sessions.web.pages.prompts import BadPrompt, choice_of
from sessions.web.respond import beside, done, fragment, redirect, toast

_SHOWN = 2
"""Attempts that the dialog begins with."""
_BOTH = require_http_methods(["GET", "POST"])


@_BOTH
async def compare(request: HttpRequest, project_id: str) -> HttpResponse:
    """GET the dialog with `prompt` in it, for the folder of `session` or of the project; POST begins, and
    leads to its page."""
    given = (request.POST if request.method == "POST" else request.GET).copy()
    given["project"] = (await project_of(project_id)).id
    place = await located(given)
    if place.project.id != project_id:
        raise Http404(gettext("This session is not here any more."))
    if request.method != "POST":
        return await _dialog(request, place)
    try:
        terms = terms_of(given)
        if terms.preset and terms.preset not in (await presets_at(request, place))[0]:
            raise ComparisonRefused(gettext("There is no such mode here."))
        made = await acts.begin(place.project, place.directory, terms)
    except ComparisonRefused as problem:
        return beside("compare", str(problem))
    return redirect(made.get_absolute_url())


async def _dialog(request: HttpRequest, place: Located) -> HttpResponse:
    config = (await asyncio.to_thread(load, place.directory)).config
    providers = await providers_of(place.directory)
    models = [model for one in providers.values() for model in one.models.values()]
    refs = [model.ref for model in models]
    favourites = [ref for ref in request.GET.getlist("favourite") if ref in refs]
    modes, now = await presets_at(request, place)
    first = {"model": request.GET.get("model", ""), "variant": request.GET.get("variant", "")}
    ways = [{"number": number, "shown": number <= _SHOWN} for number in range(1, MOST + 1)]
    return fragment(
        "comparisons/dialog.html",
        project=place.project,
        session=place.session,
        prompt=request.GET.get("prompt", ""),
        agents=[agent.name for agent in known_agents(config).values() if agent.primary],
        agent=request.GET.get("agent", ""),
        refs=list(dict.fromkeys([*favourites, *refs])),
        variants=sorted({name for model in models for name in model.variants}),
        models=models,
        ways=[{**way, **first} if way["number"] == 1 else way for way in ways],
        modes=modes.items(),
        now=modes[now].label if now in modes else "",
        preset="" if place.session else request.GET.get("preset", ""),
        nobody=NOBODY,
        at_once=AT_ONCE,
        most=MOST,
    )


def terms_of(form: QueryDict) -> Terms:
    """What a form says. Raises ComparisonRefused."""
    named = [form.getlist(name) for name in ("agent", "model", "variant")]
    ways = [_way(*(value.strip() for value in each)) for each in zip_longest(*named, fillvalue="")]
    try:
        at_once = int(form.get("at_once") or AT_ONCE)
    except ValueError as problem:
        raise ComparisonRefused(gettext("How many work at once is a number.")) from problem
    return Terms(
        form.get("prompt", "").replace("\r\n", "\n"),
        ways,
        form.get("checks", "").splitlines(),
        judge=form.get("judge", ""),
        preset=form.get("preset", ""),
        at_once=at_once,
    )


def _way(agent: str, model: str, variant: str) -> Way:
    """Raises ComparisonRefused."""
    provider_id, _, model_id = model.partition("/")
    if model and not model_id:
        raise ComparisonRefused(gettext("%(name)s is no model: write provider/model.") % {"name": model})
    return Way(agent, provider_id, model_id, variant)


@require_POST
async def stop(_: HttpRequest, project_id: str, comparison_id: str) -> HttpResponse:
    """No attempt begins any more; what runs is stopped and measured."""
    comparison, _attempts = await found(project_id, comparison_id)
    await acts.stop(comparison)
    return _changed(done())


@require_POST
async def measure(_: HttpRequest, project_id: str, comparison_id: str, number: int) -> HttpResponse:
    """An attempt once more, as it was gone on with."""
    _comparison, attempts = await found(project_id, comparison_id)
    try:
        await acts.measure_again(attempt_of(attempts, str(number)))
    except ComparisonRefused as problem:
        return toast(str(problem))
    return _changed(done())


@require_POST
async def take(request: HttpRequest, project_id: str, comparison_id: str) -> HttpResponse:
    """What `pick` names (`diffs.picked`): what would become of the files of the project, or with `seen` it is
    done."""
    comparison, _ = await found(project_id, comparison_id)
    values = request.POST.getlist("pick")
    picks = diffs.picked(values)
    try:
        if "seen" not in request.POST:
            plans = [shown.taken(plan) for plan in await acts.preview(comparison, picks)]
            writes = any(plan.tone == "change" for plan in plans)
            return fragment(
                "comparisons/take.html",
                comparison=comparison,
                numbers=sorted(picks),
                files=plans,
                values=values,
                writes=writes,
            )
        operation, outcome = await acts.take(comparison, picks, actor=actor(request))
    except ComparisonRefused as problem:
        return beside("take" if "seen" in request.POST else "picks", str(problem))
    written = sum(plan.outcome in WRITES for plan in outcome)
    words = ngettext("Took changes of %(count)s file.", "Took changes of %(count)s files.", written)
    undo = reverse("invert-operation", args=(operation.project_id, operation.id)) if operation else ""
    return _changed(toast(words % {"count": written}, undo=undo))


@_BOTH
async def combine(request: HttpRequest, project_id: str, comparison_id: str) -> HttpResponse:
    """GET the dialog, POST gives the patches of the attempts `attempt` to a new session, with `text`."""
    comparison, attempts = await found(project_id, comparison_id)
    if request.method != "POST":
        there = [row for row in attempts if row.session_id]
        rows = await in_db(shown.rows_of, comparison, there)
        return fragment("comparisons/combine.html", comparison=comparison, rows=rows)
    numbers = [row.number for row in attempts if str(row.number) in request.POST.getlist("attempt")]
    try:
        choice = {name: value for name, value in choice_of(request.POST).items() if name != "delivery"}
        session = await acts.combine(comparison, numbers, request.POST.get("text", ""), **choice)
    except (ComparisonRefused, PromptRefused, BadPrompt) as problem:
        return beside("combine", str(problem))
    return redirect(session.get_absolute_url())


@_BOTH
async def clean(request: HttpRequest, project_id: str, comparison_id: str) -> HttpResponse:
    """GET what would be lost with the worktrees of attempts, POST removes those of `attempt`, each as it was
    seen (`seen-<attempt>`)."""
    comparison, attempts = await found(project_id, comparison_id)
    if request.method != "POST":
        rows = await acts.left(comparison)
        names = await in_db(lambda: {row.number: shown.name_of(comparison, row) for row in attempts})
        listed = [(one, names[one.attempt.number]) for one in rows]
        return fragment("comparisons/clean.html", comparison=comparison, rows=listed)
    chosen = [int(number) for number in request.POST.getlist("attempt") if number.isdecimal()]
    seen = {number: request.POST.get(f"seen-{number}", "") for number in chosen}
    try:
        count = await acts.clean(comparison, seen)
    except ComparisonRefused as problem:
        return beside("clean", str(problem))
    words = ngettext("Removed %(count)s worktree.", "Removed %(count)s worktrees.", count)
    return _changed(toast(words % {"count": count}))


def _changed(response: HttpResponse) -> HttpResponse:
    """The page asks how the comparison stands."""
    response["HX-Trigger"] = "comparison:changed"
    return response

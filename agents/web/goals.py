"""The goal of a session: the dialog that sets it, what is done to it, and the log of its verdicts."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from agents.agent.goals import acts
from agents.toolkit.catalog import providers_of
from agents.web.choice_pages import presets_at
from sessions.core.db import in_db
from sessions.core.models import Project, Session
from sessions.core.sharing import share_new
from sessions.core.store import goals, inbox
from sessions.core.store import sessions as session_store
from sessions.core.store.goals import NOBODY, GoalRefused, Terms
from sessions.core.store.inbox import PromptRefused
from sessions.core.wire.session import SessionModel
from sessions.rendering.goal import state_of, verdict_rows
from sessions.web.access import Located, located, project_of, session_of
from sessions.web.pages.prompts import BadPrompt, choice_of
from sessions.web.respond import beside, done, fragment, redirect, toast

_PICKED = ("agent", "model", "variant")
"""What a new session has from beside the prompt."""


@require_http_methods(["GET", "POST"])
async def goal(request: HttpRequest, project_id: str) -> HttpResponse:
    """GET the dialog for `session`, or for a new one, with `objective` in it, or to `edit` the goal that
    there is; POST sets it, or changes the one that is named (`goal`)."""
    given = (request.POST if request.method == "POST" else request.GET).copy()
    given["project"] = (await project_of(project_id)).id
    place = await located(given)
    if place.project.id != project_id or bool(given.get("session")) != bool(place.session):
        raise Http404(gettext("This session is not here any more."))
    if request.method != "POST":
        return await _dialog(request, place)
    session = place.session
    try:
        terms = terms_of(given)
        if terms.preset and terms.preset not in (await presets_at(request, place))[0]:
            raise GoalRefused(gettext("There is no such mode here."))
        if session is not None and given.get("goal"):
            await acts.change(session, terms)
            return done()
        choice = {name: value for name, value in choice_of(given).items() if name != "delivery"}
        terms = acts.checked(terms)
        target = session or await _session(request, place, choice)
        await acts.begin(target, terms, **choice)
    except (GoalRefused, PromptRefused, BadPrompt) as problem:
        return beside("goal", str(problem))
    return done() if session else redirect(target.get_absolute_url())


async def _dialog(request: HttpRequest, place: Located) -> HttpResponse:
    session = place.session
    known = await in_db(goals.current, session.id) if session and "edit" in request.GET else None
    modes, now = await presets_at(request, place)
    providers = await providers_of(place.directory)
    return fragment(
        "goals/dialog.html",
        project=place.project,
        session=session,
        goal=known,
        objective=known.objective if known else request.GET.get("objective", ""),
        checks="\n".join(known.checks) if known else "",
        modes=modes.items(),
        now=modes[now].label if now in modes else "",
        models=[model for one in providers.values() for model in one.models.values()],
        nobody=NOBODY,
        preset=known.preset if known else "" if session else request.GET.get("preset", ""),
        picked={} if session else {name: request.GET[name] for name in _PICKED if name in request.GET},
    )


def terms_of(form: QueryDict) -> Terms:
    """What a form says. Raises GoalRefused."""
    try:
        return Terms(
            form.get("objective", "").replace("\r\n", "\n").strip(),
            form.get("checks", "").splitlines(),
            tokens=int(form.get("tokens") or 0),
            cost=float(form.get("cost") or 0),
            turns=int(form.get("turns") or 0),
            hours=float(form.get("hours") or 0),
            preset=form.get("preset", ""),
            judge=form.get("judge", ""),
        )
    except ValueError as problem:
        raise GoalRefused(gettext("A budget is a number.")) from problem


async def _session(request: HttpRequest, place: Located, choice: dict[str, str]) -> Session:
    """The one that this goal's prompt made when it was sent before, or a new one with what was picked."""
    if known := await in_db(inbox.session_of, choice.get("message_id", ""), place.project.id):
        return known
    model = None
    if choice.get("model_id"):
        variant = choice.get("variant") or None
        model = SessionModel(id=choice["model_id"], provider_id=choice["provider_id"], variant=variant)
    directory, agent = str(place.directory), choice.get("agent", "")
    created = await in_db(_create, place.project, directory, agent, model)
    return await share_new(request, created)


def _create(project: Project, directory: str, agent: str, model: SessionModel | None) -> Session:
    return session_store.create(project, directory, agent=agent, model=model)


@require_POST
async def pause(_: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """With the turn that runs."""
    await acts.pause(await session_of(project_id, session_id))
    return done()


@require_POST
async def resume(_: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """Have it go on, whatever it was that it stopped at."""
    try:
        await acts.go_on(await session_of(project_id, session_id))
    except GoalRefused as problem:
        return toast(str(problem))
    return done()


@require_POST
async def end(_: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """It is the session's goal no longer; a turn that runs goes on."""
    await acts.end(await session_of(project_id, session_id))
    return done()


@require_GET
async def log(_: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """What was found after each turn, with its evidence."""
    session = await session_of(project_id, session_id)
    found = await in_db(goals.current, session.id)
    rows = await in_db(verdict_rows, found) if found else []
    return fragment("goals/log.html", goal=found, rows=rows, state=state_of(found) if found else "")

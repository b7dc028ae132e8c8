"""The choice beside the prompt, of an agent, a model and its variant, and of how much is asked: what is
chosen, what there is to choose from, and choosing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop
from django.views.decorators.http import require_GET, require_POST

from agents.config.configuration import load
from agents.config.schema import Config
from agents.llm.accounts import plugged
from agents.llm.accounts.state import State, states
from agents.llm.providers import Provider, UnknownModel, find_model
from agents.llm.settings.variants import known_variant
from agents.llm.types import Model
from agents.toolkit.catalog import default_ref, model_for, providers_of
from agents.toolkit.definitions import Agent, default_name, known_agents
from agents.toolkit.folders import folders_of
from agents.toolkit.permission import presets
from agents.toolkit.plans import PLAN
from agents.toolkit.sandbox.terms import Terms, terms
from sessions.core import wake
from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.principal import actor
from sessions.core.store import presets as store
from sessions.core.store import sessions as session_store
from sessions.web.access import Located, located

_COLOURS = {
    "primary": "var(--accent)",
    "secondary": "var(--soft)",
    "accent": "var(--accent)",
    "success": "var(--good)",
    "warning": "var(--warn)",
    "error": "var(--bad)",
    "info": "var(--code-name)",
}
"""The theme's colours that an agent may name; anything else is `#rrggbb` (agents.config.schema.Color)."""

_MOST = 40
"""How many favourites and recent models a browser may name."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What the next prompt gets. `ref` is `provider/model`; `model` is None, with a `problem`, where there is
    no such one."""

    agent: str
    ref: str
    model: Model | None
    variant: str
    problem: str = ""
    preset: str = "ask"
    """How much is asked; `plan` where the agent plans."""
    picked: str = ""
    """The same as a person chose it; empty where nobody did."""
    terms: Terms = field(default_factory=Terms)


@dataclass(frozen=True, slots=True)
class Group:
    """Models under one heading, with what lets requests in at their provider. `mixed` are those that a person
    marked or used, of all providers."""

    name: str
    rows: tuple[tuple[Provider, Model], ...]
    access: str = ""
    mixed: bool = False


@require_GET
async def choice(request: HttpRequest) -> HttpResponse:
    """The buttons that show the choice: a session's, or `agent`, `model`, `variant` and `preset` of the query
    where there is none yet. `chosen=agent` has that agent's model come with it."""
    place = await located(request.GET)
    return await _shown(request, place, await _choice(request, place))


@require_GET
async def options(request: HttpRequest) -> HttpResponse:
    """The lists to choose from: the models by provider, before them those of the browser's `favourite` and
    `recent`; the variants of the chosen model; the agents."""
    place = await located(request.GET)
    directory = place.directory
    chosen = await _choice(request, place)
    config = (await asyncio.to_thread(load, directory)).config
    providers = await providers_of(directory)
    access = {state.id: _access(state) for state in await states(config, plugged.latest(directory))}
    favourites = request.GET.getlist("favourite")[:_MOST]
    context = {
        "chosen": chosen,
        "groups": _groups(providers, access, favourites, request.GET.getlist("recent")[:_MOST]),
        "favourites": favourites,
        "variants": list(chosen.model.variants) if chosen.model else [],
        "agents": [agent for agent in known_agents(config).values() if agent.primary],
        "presets": _presets(config, chosen.terms),
        "project": place.project.id,
    }
    return render(request, "pickers/options.html", context)


@require_POST
async def choose(request: HttpRequest) -> HttpResponse:
    """Set the session's agent, its model (`provider/model`), or its variant, for its next prompts, or how
    much is asked from now on; gives the choice as it is then."""
    session = await in_db(session_store.get, request.POST.get("session", ""))
    if session is None:
        raise Http404(gettext("The session is gone."))
    place = Located(Path(session.directory), session, session.project)
    if "model" in request.POST:
        await _choose_model(session, request.POST["model"], session.variant)
    elif "variant" in request.POST:
        now = await _choice(request, place)
        if now.model is not None:
            await _choose_model(session, now.ref, request.POST["variant"])
    elif "preset" in request.POST:
        await _choose_preset(request, place, session, request.POST["preset"])
    else:
        await _choose_agent(session, request.POST.get("agent", ""))
    place = place._replace(session=await in_db(session_store.get, session.id) or session)
    return await _shown(request, place, await _choice(request, place))


async def _choice(request: HttpRequest, place: Located) -> Choice:
    directory, session = place.directory, place.session
    config = (await asyncio.to_thread(load, directory)).config
    if session is not None:
        agent, variant = session.agent or default_name(config), session.variant
        ref, preset = await default_ref(directory, session), session.preset
    else:
        agent, preset = request.GET.get("agent", "") or default_name(config), request.GET.get("preset", "")
        if request.GET.get("chosen") == "preset" and (preset == PLAN or agent == PLAN):
            agent = PLAN if preset == PLAN else _working(config)
        entry = known_agents(config).get(agent)
        ref, variant = request.GET.get("model", ""), request.GET.get("variant", "")
        if entry and entry.model and (not ref or request.GET.get("chosen") == "agent"):
            ref, variant = entry.model, entry.variant
        ref = ref or await default_ref(directory, None, agent)
    try:
        model, problem = await model_for(directory, ref), ""
    except UnknownModel as error:
        model, problem = None, str(error)
    working = session or Session(
        directory=str(directory), preset=preset if preset in presets.MEANINGS else ""
    )
    loaded, folders = await asyncio.to_thread(load, directory), (directory, Path(place.project.worktree))
    on = await asyncio.to_thread(terms, loaded, agent, working, model, folders)
    return Choice(
        agent,
        model.ref if model else ref,
        model,
        known_variant(model, variant) if model else "",
        problem,
        PLAN if agent == PLAN else on.preset,
        PLAN if agent == PLAN else working.preset,
        on,
    )


async def _shown(request: HttpRequest, place: Located, chosen: Choice) -> HttpResponse:
    config = (await asyncio.to_thread(load, place.directory)).config
    agents = known_agents(config)
    agent = agents.get(chosen.agent)
    root = Path(place.project.worktree)
    added = await asyncio.to_thread(folders_of, place.session, config, place.directory, root)
    context = {
        "chosen": chosen,
        "description": agent.description if agent else "",
        "color": _COLOURS.get(agent.color, agent.color) if agent else "",
        "agents": json.dumps([agent.name for agent in agents.values() if agent.primary]),
        "meaning": _meaning(chosen),
        "presets": json.dumps([name for name, _ in _presets(config, chosen.terms)]),
        "folders": added.every,
    }
    return render(request, "pickers/choice.html", context)


async def _choose_model(session: Session, ref: str, variant: str) -> None:
    """The model, with the variant if it has such a one."""
    provider_id, _, model_id = ref.partition("/")
    try:
        variant = known_variant(await model_for(Path(session.directory), ref), variant)
    except UnknownModel:
        variant = ""
    await in_db(session_store.update, session.id, provider_id=provider_id, model_id=model_id, variant=variant)


async def _choose_agent(session: Session, name: str) -> None:
    """The agent, and with it its model where it names one."""
    config = (await asyncio.to_thread(load, Path(session.directory))).config
    agent: Agent | None = known_agents(config).get(name)
    if agent is None or not agent.primary:
        raise Http404(gettext("There is no such agent."))
    await in_db(session_store.update, session.id, agent=name)
    if agent.model:
        await _choose_model(session, agent.model, agent.variant)


_PLANNING = presets.Meaning(gettext_noop("Plan"), gettext_noop("The agent only reads, and makes a plan."))


def _meaning(chosen: Choice) -> presets.Meaning:
    if chosen.preset == PLAN:
        return _spoken(_PLANNING)
    return _spoken(presets.meant(presets.of(chosen.preset), silent=chosen.terms.silent))


def _spoken(meaning: presets.Meaning) -> presets.Meaning:
    return replace(meaning, label=gettext(meaning.label), words=gettext(meaning.words))


def _presets(config: Config, on: Terms) -> list[tuple[str, presets.Meaning]]:
    """Those that can be chosen, by what a form sends: planning is an agent's."""
    planning = [(PLAN, _PLANNING)] if PLAN in known_agents(config) else []
    reviewer = config.reviewer is not None
    offered = presets.offered(sandbox=not on.lacking, silent=on.silent, reviewer=reviewer)
    return [(name, _spoken(meaning)) for name, meaning in (*planning, *offered.items())]


async def presets_at(request: HttpRequest, place: Located) -> tuple[dict[str, presets.Meaning], str]:
    """How much may be asked at a place, where nobody plans, and how much is now."""
    config = (await asyncio.to_thread(load, place.directory)).config
    chosen = await _choice(request, place)
    return {name: one for name, one in _presets(config, chosen.terms) if name != PLAN}, chosen.preset


def _working(config: Config) -> str:
    """The agent that takes over from one that planned."""
    return default_name(config) if default_name(config) != PLAN else "build"


async def _choose_preset(request: HttpRequest, place: Located, session: Session, name: str) -> None:
    """How much is asked; what waits for an answer is looked at again."""
    config = (await asyncio.to_thread(load, place.directory)).config
    chosen = await _choice(request, place)
    if name not in dict(_presets(config, chosen.terms)):
        raise Http404(gettext("There is no such mode here."))
    if name == PLAN:
        await _choose_agent(session, PLAN)
        return
    if (session.agent or default_name(config)) == PLAN:
        await _choose_agent(session, _working(config))
    await in_db(store.switch, session, presets.of(name), actor(request))
    await wake.answered(session.id, "")


def _groups(
    providers: Mapping[str, Provider], access: Mapping[str, str], favourites: list[str], recents: list[str]
) -> list[Group]:
    rest = [ref for ref in recents if ref not in favourites]
    mixed = [
        Group(gettext("Favourites"), _rows(providers, favourites), mixed=True),
        Group(gettext("Recent"), _rows(providers, rest), mixed=True),
    ]
    own = [
        Group(
            provider.name,
            tuple((provider, model) for model in provider.models.values()),
            gettext("On this machine") if provider.source == "local" else access.get(provider.id, ""),
        )
        for provider in providers.values()
    ]
    return [group for group in (*mixed, *own) if group.rows]


def _rows(providers: Mapping[str, Provider], refs: Iterable[str]) -> tuple[tuple[Provider, Model], ...]:
    """Of models that there are no more nothing is shown."""
    rows = []
    for ref in dict.fromkeys(refs):
        try:
            model = find_model(providers, ref)
        except UnknownModel:
            continue
        rows.append((providers[model.provider_id], model))
    return tuple(rows)


def _access(state: State) -> str:
    """What lets requests in at a provider, in words."""
    if state.by == "environment":
        return gettext("Key in %(place)s") % {"place": state.detail}
    words = {
        "sign-in": gettext("Signed in"),
        "key": gettext("Key"),
        "configuration": gettext("Set up in the configuration"),
    }
    return words.get(state.by, "")

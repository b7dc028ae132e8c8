"""The choice beside the prompt, of an agent, a model and its variant: what is chosen, what there is to choose
from, and choosing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from agents.config.configuration import load
from agents.llm.accounts.state import State, states
from agents.llm.providers import Provider, UnknownModel, find_model
from agents.llm.settings.variants import known_variant
from agents.llm.types import Model
from agents.toolkit.catalog import default_ref, model_for, providers_of
from agents.toolkit.definitions import Agent, default_name, known_agents
from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.store import sessions as session_store
from sessions.web.access import located

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
    """The buttons that show the choice: a session's, or `agent`, `model` and `variant` of the query where
    there is none yet. `chosen=agent` has that agent's model come with it."""
    directory, session, _ = await located(request.GET)
    return await _shown(request, directory, session, await _choice(request, directory, session))


@require_GET
async def options(request: HttpRequest) -> HttpResponse:
    """The lists to choose from: the models by provider, before them those of the browser's `favourite` and
    `recent`; the variants of the chosen model; the agents."""
    directory, session, project = await located(request.GET)
    chosen = await _choice(request, directory, session)
    config = (await asyncio.to_thread(load, directory)).config
    providers = await providers_of(directory)
    access = {state.id: _access(state) for state in await states(config)}
    favourites = request.GET.getlist("favourite")[:_MOST]
    context = {
        "chosen": chosen,
        "groups": _groups(providers, access, favourites, request.GET.getlist("recent")[:_MOST]),
        "favourites": favourites,
        "variants": list(chosen.model.variants) if chosen.model else [],
        "agents": [agent for agent in known_agents(config).values() if agent.primary],
        "project": project.id,
    }
    return render(request, "pickers/options.html", context)


@require_POST
async def choose(request: HttpRequest) -> HttpResponse:
    """Set the session's agent, its model (`provider/model`), or its variant, for its next prompts; gives the
    choice as it is then."""
    session = await in_db(session_store.get, request.POST.get("session", ""))
    if session is None:
        raise Http404("The session is gone.")
    directory = Path(session.directory)
    if "model" in request.POST:
        await _choose_model(session, request.POST["model"], session.variant)
    elif "variant" in request.POST:
        now = await _choice(request, directory, session)
        if now.model is not None:
            await _choose_model(session, now.ref, request.POST["variant"])
    else:
        await _choose_agent(session, request.POST.get("agent", ""))
    session = await in_db(session_store.get, session.id) or session
    return await _shown(request, directory, session, await _choice(request, directory, session))


async def _choice(request: HttpRequest, directory: Path, session: Session | None) -> Choice:
    config = (await asyncio.to_thread(load, directory)).config
    if session is not None:
        agent, variant = session.agent or default_name(config), session.variant
        ref = await default_ref(directory, session)
    else:
        agent = request.GET.get("agent", "") or default_name(config)
        entry = known_agents(config).get(agent)
        ref, variant = request.GET.get("model", ""), request.GET.get("variant", "")
        if entry and entry.model and (not ref or request.GET.get("chosen") == "agent"):
            ref, variant = entry.model, entry.variant
        ref = ref or await default_ref(directory, None, agent)
    try:
        model = await model_for(directory, ref)
    except UnknownModel as error:
        return Choice(agent, ref, None, "", str(error))
    return Choice(agent, model.ref, model, known_variant(model, variant))


async def _shown(
    request: HttpRequest, directory: Path, session: Session | None, chosen: Choice
) -> HttpResponse:
    config = (await asyncio.to_thread(load, directory)).config
    agents = known_agents(config)
    agent = agents.get(chosen.agent)
    context = {
        "chosen": chosen,
        "description": agent.description if agent else "",
        "color": _COLOURS.get(agent.color, agent.color) if agent else "",
        "agents": json.dumps([agent.name for agent in agents.values() if agent.primary]),
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
        raise Http404("There is no such agent.")
    await in_db(session_store.update, session.id, agent=name)
    if agent.model:
        await _choose_model(session, agent.model, agent.variant)


def _groups(
    providers: Mapping[str, Provider], access: Mapping[str, str], favourites: list[str], recents: list[str]
) -> list[Group]:
    rest = [ref for ref in recents if ref not in favourites]
    mixed = [
        Group("Favourites", _rows(providers, favourites), mixed=True),
        Group("Recent", _rows(providers, rest), mixed=True),
    ]
    own = [
        Group(
            provider.name,
            tuple((provider, model) for model in provider.models.values()),
            "On this machine" if provider.source == "local" else access.get(provider.id, ""),
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
        return f"Key in {state.detail}"
    words = {"sign-in": "Signed in", "key": "Key", "configuration": "Set up in the configuration"}
    return words.get(state.by, "")

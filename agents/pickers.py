"""The pickers that pages pull by URL: models with their variants, agents, and what there is to say about the
configuration."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from agents.catalog import default_model, model_for, providers_of
from agents.configuration import load
from agents.definitions import Agent, complaint, default_name, known_agents
from agents.llm.providers import Provider, UnknownModel, find_model
from agents.llm.settings.variants import known_variant
from agents.llm.types import Model
from agents.mcp.hub import hub
from agents.plugins.faults import faults
from agents.skills.discovery import skill_problems
from agents.trust.pages import banner as trust_banner
from sessions.db import in_db
from sessions.models import Session
from sessions.pages.access import located
from sessions.store import sessions as session_store

_COLOURS = {
    "primary": "var(--accent)",
    "secondary": "var(--soft)",
    "accent": "var(--accent)",
    "success": "var(--good)",
    "warning": "var(--warn)",
    "error": "var(--bad)",
    "info": "var(--code-name)",
}
"""The theme's colours that an agent may name; anything else is `#rrggbb` (agents.config.Color)."""

MODEL_CHANGED = "model-changed"
"""Told to the page when the model changed with the agent: the model picker reads itself again."""

MOST_MENTIONS = 12


@require_GET
async def models(request: HttpRequest) -> HttpResponse:
    """Every model of every provider; the one the session would use is selected, or `?model=`."""
    directory, session, _ = await located(request.GET)
    return await _models(request, directory, session, request.GET.get("model", ""))


@require_GET
async def agent_picker(request: HttpRequest) -> HttpResponse:
    directory, session, _ = await located(request.GET)
    config = (await asyncio.to_thread(load, directory)).config
    chosen = (session.agent if session else "") or default_name(config)
    found = [
        {
            "name": agent.name,
            "description": agent.description,
            "color": _COLOURS.get(agent.color, agent.color),
            "selected": agent.name == chosen,
        }
        for agent in known_agents(config).values()
        if agent.primary
    ]
    return render(request, "pickers/agents.html", {"agents": found, "session": session.id if session else ""})


@require_GET
async def mentions(request: HttpRequest) -> HttpResponse:
    """The agents that a prompt may mention by `@`, as options of the composer; `?q=` is what was typed."""
    directory, _, _ = await located(request.GET)
    config = (await asyncio.to_thread(load, directory)).config
    query = request.GET.get("q", "").lower()
    found = [
        agent for agent in known_agents(config).values() if agent.mentionable and query in agent.name.lower()
    ]
    found.sort(key=lambda agent: (not agent.name.lower().startswith(query), agent.name))
    return render(request, "pickers/mentions.html", {"agents": found[:MOST_MENTIONS]})


@require_GET
async def status(request: HttpRequest) -> HttpResponse:
    """Whether the demo answers, and what is wrong in the configuration. Every page of a project asks, so its
    MCP servers are started with that."""
    directory, session, _ = await located(request.GET)
    hub.warm(directory)
    loaded = await asyncio.to_thread(load, directory)
    selected, problem = await _selected(directory, session)
    skills = await asyncio.to_thread(skill_problems, directory)
    providers = await providers_of(directory)
    wrong = [complaint(loaded.config), *_without_model(known_agents(loaded.config).values(), providers)]
    context: dict[str, Any] = {
        "demo": selected is not None and selected.protocol == "scripted",
        "complaints": [text for text in dict.fromkeys([problem, *wrong]) if text],
        "problems": [item for item in (*loaded.problems, *skills, *faults(directory)) if _is_error(item)],
        "config_path": settings.CONFIG_DIR / "opencode.json",
    }
    context |= await trust_banner(directory, request.GET.get("project", ""), session.id if session else "")
    return render(request, "pickers/status.html", context)


@require_POST
async def choose(request: HttpRequest) -> HttpResponse:
    """Set the session's model (`provider/model`), its variant, or its agent for its next prompts."""
    session = await in_db(session_store.get, request.POST.get("session", ""))
    if session is None:
        raise Http404("The session is gone.")
    directory = Path(session.directory)
    if "model" in request.POST:
        session = await _choose_model(session, request.POST["model"], session.variant) or session
        return await _models(request, directory, session, "")
    if "variant" in request.POST:
        selected, _ = await _selected(directory, session)
        if selected is not None:
            await _choose_model(session, selected.ref, request.POST["variant"])
        return HttpResponse(status=204)
    return await _choose_agent(session, request.POST.get("agent", ""))


async def _choose_model(session: Session, ref: str, variant: str) -> Session | None:
    """The model, with the variant if it has such a one."""
    provider_id, _, model_id = ref.partition("/")
    try:
        variant = known_variant(await model_for(Path(session.directory), ref), variant)
    except UnknownModel:
        variant = ""
    return await in_db(
        session_store.update, session.id, provider_id=provider_id, model_id=model_id, variant=variant
    )


async def _choose_agent(session: Session, name: str) -> HttpResponse:
    """The agent, and with it its model where it names one."""
    config = (await asyncio.to_thread(load, Path(session.directory))).config
    agent = known_agents(config).get(name)
    if agent is None or not agent.primary:
        raise Http404("There is no such agent.")
    await in_db(session_store.update, session.id, agent=name)
    if not agent.model:
        return HttpResponse(status=204)
    await _choose_model(session, agent.model, agent.variant)
    return HttpResponse(status=204, headers={"HX-Trigger": MODEL_CHANGED})


async def _models(request: HttpRequest, directory: Path, session: Session | None, ref: str) -> HttpResponse:
    selected, problem = await _selected(directory, session, ref)
    chosen = session.variant if session and not ref else ""
    found = [
        {
            "ref": model.ref,
            "name": model.name,
            "provider": provider.name,
            "selected": selected is not None and model.ref == selected.ref,
        }
        for provider in (await providers_of(directory)).values()
        for model in provider.models.values()
    ]
    context = {
        "models": found,
        "variants": [
            {"name": name, "selected": name == chosen} for name in (selected.variants if selected else ())
        ],
        "problem": problem,
        "session": session.id if session else "",
        "project": request.GET.get("project", ""),
    }
    return render(request, "pickers/models.html", context)


def _is_error(problem: Any) -> bool:
    return bool(problem.level == "error")


def _without_model(found: Iterable[Agent], providers: Mapping[str, Provider]) -> Iterator[str]:
    """What is to be said of agents whose model does not exist."""
    for agent in found:
        try:
            if agent.model:
                find_model(providers, agent.model)
        except UnknownModel as error:
            yield f"Agent {agent.name!r}: {error}"


async def _selected(directory: Path, session: Session | None, ref: str = "") -> tuple[Model | None, str]:
    try:
        return await (model_for(directory, ref) if ref else default_model(directory, session)), ""
    except UnknownModel as error:
        return None, str(error)

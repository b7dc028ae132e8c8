"""The pickers that pages pull by URL: models, agents, and what there is to say about the configuration."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from agents.catalog import default_model, providers_of
from agents.configuration import load
from agents.definitions import agents
from agents.llm.providers import UnknownModel
from agents.llm.types import Model
from sessions.db import in_db
from sessions.models import Session
from sessions.store import projects
from sessions.store import sessions as session_store


@require_GET
async def models(request: HttpRequest) -> HttpResponse:
    """Every model of every provider; the one the session would use is selected."""
    directory, session = await _place(request)
    selected, problem = await _selected(directory, session)
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
    context = {"models": found, "problem": problem, "session": session.id if session else ""}
    return render(request, "pickers/models.html", context)


@require_GET
async def agent_picker(request: HttpRequest) -> HttpResponse:
    directory, session = await _place(request)
    config = (await asyncio.to_thread(load, directory)).config
    chosen = (session.agent if session else "") or config.default_agent or "build"
    found = [
        {
            "name": agent.name,
            "description": agent.description,
            "color": agent.color,
            "selected": agent.name == chosen,
        }
        for agent in agents(config).values()
        if agent.mode != "subagent" and not agent.hidden
    ]
    return render(request, "pickers/agents.html", {"agents": found, "session": session.id if session else ""})


@require_GET
async def status(request: HttpRequest) -> HttpResponse:
    """Whether the demo answers, and what is wrong in the configuration."""
    directory, session = await _place(request)
    loaded = await asyncio.to_thread(load, directory)
    selected, problem = await _selected(directory, session)
    context: dict[str, Any] = {
        "demo": selected is not None and selected.protocol == "scripted",
        "problem": problem,
        "problems": [item for item in loaded.problems if item.level == "error"],
        "config_path": settings.CONFIG_DIR / "opencode.json",
    }
    return render(request, "pickers/status.html", context)


@require_POST
async def choose(request: HttpRequest) -> HttpResponse:
    """Set the session's model (`provider/model`) or agent for its next prompts."""
    session = await in_db(session_store.get, request.POST.get("session", ""))
    if session is None:
        raise Http404("The session is gone.")
    if "model" in request.POST:
        provider_id, _, model_id = request.POST["model"].partition("/")
        await in_db(session_store.update, session.id, provider_id=provider_id, model_id=model_id)
    else:
        await in_db(session_store.update, session.id, agent=request.POST.get("agent", ""))
    return HttpResponse(status=204)


async def _place(request: HttpRequest) -> tuple[Path, Session | None]:
    """The folder by `?session=`, else by `?project=`. Raises Http404 for neither."""
    session = await in_db(session_store.get, request.GET.get("session", ""))
    if session is not None:
        return Path(session.directory), session
    project = await in_db(projects.get, request.GET.get("project", ""))
    if project is None:
        raise Http404("The session is gone.")
    return Path(project.worktree), None


async def _selected(directory: Path, session: Session | None) -> tuple[Model | None, str]:
    try:
        return await default_model(directory, session), ""
    except UnknownModel as error:
        return None, str(error)

"""The page that shows what a model is told before the first prompt of a session."""

from __future__ import annotations

import asyncio

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.http import require_GET

from agents.agent.preview import preview
from agents.config.configuration import load
from agents.llm.providers import UnknownModel
from agents.toolkit.definitions import UnknownAgent, known_agents
from sessions.web.places import place_of


@require_GET
async def told(request: HttpRequest) -> HttpResponse:
    """In `?project=`, with the agent `?agent=` or the default one. Starts what a first prompt would start:
    MCP servers and plugins, where they are trusted."""
    place = await place_of(request.GET)
    if place.project is None:
        raise Http404(gettext("This page is of a project: open one first."))
    config = (await asyncio.to_thread(load, place.directory)).config
    agents = [agent for agent in known_agents(config).values() if not agent.hidden]
    shown = {"project": place.project, "agents": agents}
    try:
        found = await preview(place.project, place.directory, request.GET.get("agent", ""))
    except (UnknownAgent, UnknownModel) as problem:
        return render(request, "configuration/told.html", {**shown, "problem": str(problem)})
    return render(request, "configuration/told.html", {**shown, "found": found})

"""What pages pull by URL: the agents to mention, and what there is to say about the configuration."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from agents.config import unused
from agents.config.configuration import load
from agents.config.problem import Problem
from agents.llm.providers import Provider, UnknownModel, find_model
from agents.llm.types import Model
from agents.plugins.faults import faults
from agents.servers.mcp.hub import hub
from agents.toolkit.catalog import default_model, providers_of
from agents.toolkit.definitions import Agent, complaint, default_name, known_agents
from agents.toolkit.folders import folders_of
from agents.toolkit.sandbox.terms import terms
from agents.toolkit.skills import skill_problems
from agents.web.trust import banner as trust_banner
from sessions.core.models import Session
from sessions.core.store.added_folders import AddedFolder
from sessions.project import search
from sessions.web.access import located

MOST_MENTIONS = 12
MOST_OF_EACH = 4
"""Files of one folder beside the project, where it was not asked for that one."""

log = logging.getLogger(__name__)


@require_GET
async def mentions(request: HttpRequest) -> HttpResponse:
    """Options of the composer: the agents and the added folders that a prompt may mention by `@`, and the
    files in these that `?q=`, what was typed, means; after the name of a folder and a slash only those in it.
    """
    directory, session, project = await located(request.GET)
    config = (await asyncio.to_thread(load, directory)).config
    typed = request.GET.get("q", "")
    query = typed.lower()
    added = (await asyncio.to_thread(folders_of, session, config, directory, Path(project.worktree))).every
    found = [
        agent for agent in known_agents(config).values() if agent.mentionable and query in agent.name.lower()
    ]
    found.sort(key=lambda agent: (not agent.name.lower().startswith(query), agent.name))
    context = {
        "agents": found[:MOST_MENTIONS],
        "folders": [folder for folder in added if folder.name.lower().startswith(query)],
        "files": await _files_of(added, typed),
    }
    return render(request, "pickers/mentions.html", context)


async def _files_of(added: Sequence[AddedFolder], typed: str) -> list[str]:
    """The name of the folder before each. Of the folder whose name and a slash were typed those that the rest
    means, else the first few of each."""
    name, slash, query = typed.partition("/")
    folder = next((folder for folder in added if slash and folder.name == name), None)
    if folder is not None:
        return await _files(folder, query, MOST_MENTIONS)
    each = (_files(folder, typed, MOST_OF_EACH) for folder in added) if typed else ()
    return [path for found in await asyncio.gather(*each) for path in found]


async def _files(folder: AddedFolder, query: str, most: int) -> list[str]:
    try:
        found = await search.find_files(folder.path, query, limit=most)
    except search.SearchFailed as problem:
        log.warning("no files to complete: %s", problem)
        return []
    return [f"{folder.name}/{path}" for path in found]


@require_GET
async def status(request: HttpRequest) -> HttpResponse:
    """Whether the demo answers, and what is wrong in the configuration. Every page of a project asks, so its
    MCP servers are started with that."""
    directory, session, project = await located(request.GET)
    hub.warm(directory)
    loaded = await asyncio.to_thread(load, directory)
    selected, problem = await _selected(directory, session)
    skills = await asyncio.to_thread(skill_problems, directory)
    providers = await providers_of(directory)
    wrong = [complaint(loaded.config), *_without_model(known_agents(loaded.config).values(), providers)]
    new, folders = Session(directory=str(directory)), (directory, Path(project.worktree))
    on = await asyncio.to_thread(
        terms, loaded, default_name(loaded.config), session or new, selected, folders
    )
    context: dict[str, Any] = {
        "demo": selected is not None and selected.protocol == "scripted",
        "lacking": on.lacking if on.careful and session is None else "",
        "complaints": [text for text in dict.fromkeys([problem, *wrong]) if text],
        "problems": [item for item in (*loaded.problems, *skills, *faults(directory)) if _is_error(item)],
        **await asyncio.to_thread(_unused, directory, loaded.unused),
        "config_path": settings.CONFIG_DIRS[0] / "opencode.json",
    }
    context |= await trust_banner(directory, request.GET.get("project", ""), session.id if session else "")
    return render(request, "pickers/status.html", context)


def _unused(directory: Path, found: Sequence[Problem]) -> Mapping[str, Any]:
    """What may guard something and does not, where no person has read that yet."""
    told = [item for item in found if item.level == "warning"]
    if not told or unused.is_dismissed(directory, told):
        return {}
    return {"unused": list(map(unused.told_of, told)), "unused_shown": unused.fingerprint(told)}


@require_POST
async def dismiss_unused(request: HttpRequest) -> HttpResponse:
    """Name what has the fingerprint `shown` no longer in the folder of `project` and `session`."""
    directory, _, _ = await located(request.POST)
    await asyncio.to_thread(unused.dismiss, directory, request.POST.get("shown", ""))
    return HttpResponse()


def _is_error(problem: Any) -> bool:
    return bool(problem.level == "error")


def _without_model(found: Iterable[Agent], providers: Mapping[str, Provider]) -> Iterator[str]:
    """What is to be said of agents whose model does not exist."""
    for agent in found:
        try:
            if agent.model:
                find_model(providers, agent.model)
        except UnknownModel as error:
            yield gettext("Agent %(name)s: %(error)s") % {"name": repr(agent.name), "error": error}


async def _selected(directory: Path, session: Session | None) -> tuple[Model | None, str]:
    try:
        return await default_model(directory, session), ""
    except UnknownModel as error:
        return None, str(error)

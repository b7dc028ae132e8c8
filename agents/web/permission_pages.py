"""The configuration's permission rules for the page of saved rules, which pulls them by URL."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from agents.config.configuration import load
from agents.toolkit.definitions import Agent, agents
from agents.toolkit.permission.defaults import guarded
from agents.toolkit.permission.rules import Floor, Rule, evaluate
from sessions.core.db import in_db
from sessions.core.store import permissions, projects


@dataclass(frozen=True, slots=True)
class Ruled:
    """An agent with its rules in order: the last that matches counts, a limit where it is stricter."""

    name: str
    rules: Sequence[Rule]
    limits: Sequence[Rule]


@require_GET
async def why(request: HttpRequest) -> HttpResponse:
    """`?request=`: the rules because of which a permission is asked for; empty where none of them asks."""
    row = await in_db(permissions.get, request.GET.get("request", ""))
    if row is None:
        raise Http404("This question is not known here.")
    agent = (await _agents(row.session.directory)).get(row.agent)
    own = [Rule(rule["permission"], rule["pattern"], rule["action"]) for rule in row.session.permission]
    rules = [*(agent.permission if agent else ()), *guarded(own)]
    found = [evaluate(row.permission, pattern, rules) for pattern in row.patterns]
    asking = dict.fromkeys(rule for rule in found if rule.action == "ask" and rule in rules)
    return render(request, "approvals/why.html", {"rules": list(asking)})


@require_GET
async def configured(request: HttpRequest) -> HttpResponse:
    """`?project=`: what applies to each agent that may act, defaults and configuration together."""
    project = await in_db(projects.get, request.GET.get("project", ""))
    if project is None:
        raise Http404("This project is not known here.")
    shown = [
        Ruled(
            agent.name,
            [rule for rule in agent.permission if not isinstance(rule, Floor)],
            [rule for rule in agent.permission if isinstance(rule, Floor)],
        )
        for agent in (await _agents(project.worktree)).values()
        if not agent.hidden
    ]
    return render(request, "approvals/configured.html", {"agents": shown})


async def _agents(directory: str) -> dict[str, Agent]:
    """The agents of a folder with all their rules."""
    loaded = await asyncio.to_thread(load, Path(directory))
    unreadable = any(problem.level == "error" and not problem.key for problem in loaded.problems)
    return agents(loaded.config, unreadable=unreadable)

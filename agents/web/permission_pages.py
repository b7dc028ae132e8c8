"""The configuration's permission rules for the page of saved rules, which pulls them by URL."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.http import require_GET

from agents.agent.steps.sample import Working, work
from agents.config.configuration import load
from agents.config.limits import in_words, limits_of
from agents.toolkit.definitions import UnknownAgent, known_agents
from agents.toolkit.permission import presets
from agents.toolkit.permission.limit import LIMIT, about_limits
from agents.toolkit.permission.rules import Floor, Rule, evaluate, nearest
from sessions.core.db import in_db
from sessions.core.models import Project, Session
from sessions.core.store import permissions, projects


@dataclass(frozen=True, slots=True)
class Ruled:
    """An agent with its rules in order: the last that matches counts, a limit where it is stricter."""

    name: str
    rules: Sequence[Rule]
    limits: Sequence[Rule]


@require_GET
async def why(request: HttpRequest) -> HttpResponse:
    """`?request=`: the rules because of which a permission is asked for, and one that almost allowed it;
    empty where there are none."""
    row = await in_db(permissions.get, request.GET.get("request", ""))
    if row is None:
        raise Http404(gettext("This question is not known here."))
    try:
        rules = (await asyncio.to_thread(_working, row.session, row.agent)).rules
    except UnknownAgent:
        rules = ()
    rules = about_limits(rules) if row.permission == LIMIT else rules
    found = [evaluate(row.permission, pattern, rules) for pattern in row.patterns]
    asking = dict.fromkeys(rule for rule in found if rule.action == "ask" and rule in rules)
    saved = await in_db(permissions.in_force, row.session, row.message_id)
    allowed = [*rules, *(Rule(rule.permission, rule.pattern, "allow") for rule in saved)]
    almost = (nearest(row.permission, pattern, allowed) for pattern in row.patterns)
    shown = {"rules": list(asking), "nearest": next(filter(None, almost), None)}
    return render(request, "approvals/why.html", shown)


@require_GET
async def configured(request: HttpRequest) -> HttpResponse:
    """`?project=`: what applies to each agent that may act, defaults and configuration together."""
    project = await in_db(projects.get, request.GET.get("project", ""))
    if project is None:
        raise Http404(gettext("This project is not known here."))
    return render(request, "approvals/configured.html", await asyncio.to_thread(_in_force, project))


def _in_force(project: Project) -> dict[str, object]:
    """The rules of each agent in a new session, the limits, and on what terms the one works that a session
    begins with. Blocks."""
    session = Session(project=project, directory=project.worktree)
    config = load(Path(project.worktree)).config
    known = known_agents(config).values()
    agents = [_working(session, agent.name).agent for agent in known if not agent.hidden]
    on = _working(session, "").terms
    return {
        "on": on,
        "limits": in_words(limits_of(config)),
        "depth": config.subagent_depth,
        "meaning": presets.meant(on.preset, silent=on.silent),
        "agents": [
            Ruled(
                agent.name,
                [rule for rule in agent.permission if not isinstance(rule, Floor)],
                [rule for rule in agent.permission if isinstance(rule, Floor)],
            )
            for agent in agents
        ],
    }


def _working(session: Session, name: str) -> Working:
    """Raises UnknownAgent. Blocks."""
    return work(session, None, name, Path(session.directory), Path(session.project.worktree))

"""The work of a session at a glance: all that its page says in several places, in one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop
from django.views.decorators.http import require_GET

from agents.llm.providers import UnknownModel
from agents.llm.types import Model, Usage
from agents.servers.lsp.service import service
from agents.servers.mcp.hub import hub
from agents.toolkit.catalog import default_model
from agents.web.problem_pages import found
from sessions.changes import vcs
from sessions.changes.vcs import Checkout, GitError
from sessions.core.db import in_db
from sessions.core.models import Message, Session
from sessions.core.store import children, goals, inbox, permissions, questions, todos
from sessions.core.text import visible
from sessions.rendering.goal import goal_facts
from sessions.rendering.meter import gauge
from sessions.web.access import Located, session_of
from sessions.web.live.states import STATES, state_of
from sessions.web.problems.panel import panel
from sessions.web.respond import fragment

_STATUS = {
    "connected": gettext_noop("connected"),
    "connecting": gettext_noop("starting"),
    "starting": gettext_noop("starting"),
    "disabled": gettext_noop("off"),
    "failed": gettext_noop("failed"),
    "error": gettext_noop("failed"),
    "needs_auth": gettext_noop("needs sign-in"),
    "needs_client_registration": gettext_noop("needs a client id"),
    "missing": gettext_noop("is not installed"),
    "held": gettext_noop("waits for trust"),
    "idle": gettext_noop("starts when needed"),
}


@dataclass(frozen=True, slots=True)
class Server:
    """An MCP server or a language server: its name, how it stands, and why where that is no good."""

    name: str
    status: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Next:
    """What the next step sends: tokens in all, those that a cache may have, and US dollars for them (None
    where nobody knows the price). Its answer is not in it."""

    tokens: int
    cached: int
    cost: float | None


@require_GET
async def glance(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """Goal, todos, subagents, queue, changes, context, servers, problems, branch, as they are now."""
    session = await session_of(project_id, session_id)
    place = Located(Path(session.directory), session, session.project)
    rows, model, servers, branch, problems = await asyncio.gather(
        in_db(_rows, session),
        _model(place),
        asyncio.to_thread(_servers, place.directory),
        asyncio.to_thread(_branch, place.directory),
        found(place),
    )
    usage = rows.pop("usage")
    return fragment(
        "glance/panel.html",
        session=session,
        base=session.get_absolute_url(),
        next=_next(rows["gauge"].used, usage, model),
        servers=servers,
        branch=branch,
        problems=panel(problems[1]) if problems[0] else None,
        **rows,
    )


def _rows(session: Session) -> dict[str, Any]:
    below = children.listing(session.id)
    waits = {row.session_id for row in permissions.pending()}
    waits |= {row.session_id for row in questions.pending()}
    goal = goals.current(session.id)
    listed = todos.listing(session.id)
    return {
        "goal": goal,
        "goal_facts": goal_facts(goal) if goal else None,
        "todos": listed,
        "done": sum(todo.ended for todo in listed),
        "below": [
            (child, state := state_of(child, child.id in waits), gettext(STATES[state])) for child in below
        ],
        "queue": inbox.waiting(session.id),
        "gauge": gauge(session),
        "usage": _usage(session.id),
    }


def _usage(session_id: str) -> Usage:
    """Of the last step that was counted."""
    rows = Message.objects.filter(session_id=session_id, role="assistant", data__tokens__output__gt=0)
    last = rows.order_by("-id").first()
    tokens: Mapping[str, Any] = last.data["tokens"] if last else {}
    cache = tokens.get("cache") or {}
    return Usage(
        input=int(tokens.get("input") or 0),
        output=int(tokens.get("output") or 0),
        reasoning=int(tokens.get("reasoning") or 0),
        cache_read=int(cache.get("read") or 0),
        cache_write=int(cache.get("write") or 0),
    )


def _next(used: int, usage: Usage, model: Model | None) -> Next:
    """What the last step read from a cache or wrote into it is taken to be there still."""
    cached = min(usage.cache_read + usage.cache_write, used)
    price = model.price if model else None
    known = price is not None and (price.input or price.cache_read)
    sent = Usage(input=used - cached, cache_read=cached)
    return Next(used, cached, sent.cost(price) if price is not None and known else None)


async def _model(place: Located) -> Model | None:
    try:
        return await default_model(place.directory, place.session)
    except (UnknownModel, OSError):
        return None


def _servers(directory: Path) -> list[Server]:
    """None where turns run in other processes, so that no server is started only to be shown."""
    servers: list[Server] = []
    with suppress(OSError):
        if settings.RUNS_TURNS:
            states = hub.statuses(directory)
            servers += [_server(name, one.status, one.error) for name, one in states.items()]
        servers += [_server(one.name, one.status, one.reason) for one in service.statuses(directory)]
    return servers


def _server(name: str, status: str, why: str) -> Server:
    return Server(visible(name), gettext(_STATUS[status]), visible(why))


def _branch(directory: Path) -> tuple[str, int] | None:
    """The branch, and how many files differ from its last commit; None where there is no repository."""
    with suppress(GitError, OSError):
        checkout = Checkout(directory)
        return vcs.current(checkout), len(vcs.changes(checkout, vcs.head(checkout), directory))
    return None

"""What a person or a client does with a goal; pages and API call the same functions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from agents.agent.goals.checks import BadCheck, lines
from agents.agent.goals.pursuit import first_parts
from sessions.changes import actions
from sessions.core.db import in_db
from sessions.core.models import Goal, Session
from sessions.core.principal import acting
from sessions.core.store import goals
from sessions.core.store.goals import GoalRefused, Terms
from sessions.core.wake import wake


def checked(terms: Terms) -> Terms:
    """With its checks as lines of checks. Raises GoalRefused."""
    try:
        found = replace(terms, checks=lines("\n".join(terms.checks)))
    except BadCheck as problem:
        raise GoalRefused(str(problem)) from problem
    found.check()
    return found


async def begin(session: Session, terms: Terms, **choice: Any) -> Goal:
    """Set a goal, whose first prompt is admitted with `choice` (see `inbox.admit`), and wake the session.
    Raises GoalRefused and PromptRefused."""
    goal = await in_db(goals.begin, session, checked(terms), first_parts, actor=acting.get(), **choice)
    await wake(session.id)
    return goal


async def change(session: Session, terms: Terms) -> Goal:
    """Raises GoalRefused."""
    goal = await in_db(goals.change, session, checked(terms), acting.get())
    await wake(session.id)
    return goal


async def pause(session: Session) -> Goal | None:
    """With the turn that runs: it is worked at no more."""
    await actions.abort(session.id)
    return await in_db(goals.current, session.id)


async def go_on(session: Session) -> Goal | None:
    """Raises GoalRefused."""
    goal = await in_db(goals.go_on, session, acting.get())
    await wake(session.id)
    return goal


async def end(session: Session) -> Goal | None:
    """A turn that runs goes on, as any turn."""
    return await in_db(goals.end, session.id)


ACTS: Mapping[str, Callable[[Session], Awaitable[Goal | None]]] = {
    "pause": pause,
    "resume": go_on,
    "end": end,
}

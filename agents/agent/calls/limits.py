"""Limits that a call may reach: a person is asked whether it goes on (docs/decisions/0043-limits.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from agents.agent.run import Run
from agents.config.limits import limits_of, of_calls
from agents.toolkit.base import ToolContext, ToolError
from agents.toolkit.permission.errors import NotPermitted, PermissionRejected
from agents.toolkit.permission.limit import LIMIT, about_limits
from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.store import children, family
from sessions.core.wire.patterns import is_everything, matches


@dataclass(frozen=True, slots=True)
class Reached:
    """A limit that a call goes beyond. `name` is what a rule says for it; `words` say what it is, `further`
    what to allow it once means, both for people."""

    name: str
    words: str
    further: str


async def check(run: Run, context: ToolContext, tool: str) -> None:
    """Count a call in its turn, and ask about each limit that it goes beyond. A refusal holds for the turn;
    one of a limit over all tools leaves it to answer in words. Raises NotPermitted and ToolError."""
    limits = limits_of(context.turn.config)
    run.calls[tool] += 1
    for pattern, most in limits.calls.items():
        if matches(pattern, tool):
            before = sum(count for name, count in run.calls.items() if matches(pattern, name)) - 1
            reached = of_calls(pattern, most)
            limit = Reached(f"calls of {pattern}", reached, f"{most:,} more in this turn")
            await _go_on(run, context, limit, before, most, whole=is_everything(pattern))
    cost, tokens = limits.session_cost, limits.session_tokens
    if not cost and not tokens:
        return
    own, others = run.seen, run.elsewhere
    if others is None or own.parent_id:  # while a subagent works, those beside it spend, too
        others = run.elsewhere = await in_db(children.spent_elsewhere, own)
    if cost:
        limit = Reached(
            "session cost", f"${cost:,.2f} in one conversation", f"${cost:,.2f} more in this turn"
        )
        await _go_on(run, context, limit, own.cost + others.cost, cost, whole=True)
    if tokens:
        words = f"{tokens:,} output tokens in one conversation"
        limit = Reached("session tokens", words, f"{tokens:,} more in this turn")
        said = own.tokens.get("output", 0) + others.tokens
        await _go_on(run, context, limit, said, tokens, whole=True)


async def _go_on(
    run: Run, context: ToolContext, limit: Reached, used: float, most: float, *, whole: bool
) -> None:
    """Ask where it is reached, and again when as much again is used."""
    if used < run.granted.get(limit.name, 0) + most:
        return
    if (refusal := run.refusals.get(limit.name)) is not None:
        raise ToolError(refusal)
    try:
        await ask(context, limit)
    except ToolError as error:
        run.refusals[limit.name] = str(error)
        run.exhausted = run.exhausted or whole
        raise
    run.granted[limit.name] = used


async def ask(context: ToolContext, limit: Reached) -> None:
    """Return where a rule or a person lets the call go on. Raises PermissionRejected for a person's no
    without words, else ToolError."""
    line = await in_db(family.line, context.session_id)
    metadata = {
        "limit": limit.words,
        "further": limit.further,
        "agents": [*(row.agent for row in line[:-1] if row.agent), context.agent],
    }
    rules = about_limits(context.turn.rules)
    try:
        await context.ask(LIMIT, [limit.name], always=[limit.name], metadata=metadata, rules=rules)
    except NotPermitted as error:
        if isinstance(error, PermissionRejected) and not error.message:
            raise
        raise ToolError(f"A limit is reached: {limit.words}. {error}") from error


_at_work: Counter[str] = Counter()
"""Subagents that this process waits for, by the topmost session."""


@asynccontextmanager
async def at_work(run: Run, context: ToolContext, top: Session) -> AsyncIterator[None]:
    """While a subagent works, of the conversation that `top` is. Raises as `ask`."""
    most = limits_of(context.turn.config).subagents
    if most and _at_work[top.id] >= most:
        await ask(context, Reached("subagents", f"{most:,} subagents at work at once", "this one as well"))
    _at_work[top.id] += 1
    try:
        yield
    finally:
        run.elsewhere = None
        _at_work[top.id] -= 1
        if not _at_work[top.id]:
            del _at_work[top.id]


async def check_depth(context: ToolContext, above: int) -> None:
    """Before a session that has so many above it sends a subagent. Raises as `ask`."""
    most = context.turn.config.subagent_depth
    if above >= most:
        words = f"subagents {most:,} deep (subagent_depth)"
        await ask(context, Reached("depth of subagents", words, "this one as well"))

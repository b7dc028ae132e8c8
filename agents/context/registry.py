"""The System Context Registry: keyed producers of sources, observed side by side (seed 002)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from agents.context.plan import plan_sources
from agents.context.source import Source
from agents.context.sources import date, environment, instructions, kept, review, skills
from agents.context.system_context import SystemContext
from agents.turn import Turn

Producer = Callable[[Turn], Awaitable[Sequence[Source[Any]]]]

PRODUCERS: dict[str, Producer] = {
    "core/date": date.produce,
    "core/environment": environment.produce,
    "core/instructions": instructions.produce,
    "core/kept": kept.produce,
    "core/mode": plan_sources,
    "core/review": review.produce,
    "core/skills": skills.produce,
}
"""By contribution key; sources are combined in the order of these keys. Built-in producers have a line here,
others (MCP, plugins) add themselves from their own rooms. A producer does not raise."""


async def system_context(turn: Turn) -> SystemContext:
    """What all producers contribute to a turn. Raises DuplicateKey."""
    keys = sorted(PRODUCERS)
    contributions = await asyncio.gather(*(PRODUCERS[key](turn) for key in keys))
    return SystemContext.combine(
        SystemContext.make(source) for sources in contributions for source in sources
    )

"""The System Context Registry: keyed producers of sources, observed side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from agents.agent.context.source import Source
from agents.agent.context.sources import (
    date,
    environment,
    folders,
    instructions,
    nested,
    pins,
    skills,
    verdicts,
)
from agents.agent.context.system_context import SystemContext
from agents.toolkit.definitions import prompt_text
from agents.toolkit.plans import is_planning, is_short
from agents.toolkit.turn import Turn
from sessions.core.plans import shown_path

# The Context Source `core/mode`: that the session is in plan mode, and that it no longer is.
#
# It is there while the agent plans, and in no baseline: a model would hold on to what the system text forbids
# when plan mode has ended. The text for its end is kept with it, so an agent switched by hand and an approved
# plan are told alike.


@dataclass(frozen=True, slots=True)
class Mode:
    """`plan` is the path of the plan file for the model; empty in the short form, which has none."""

    plan: str


async def plan_sources(turn: Turn) -> Sequence[Source[Mode]]:
    """One source in plan mode, none otherwise."""
    if not is_planning(turn):
        return []
    mode = Mode("" if is_short(turn.config) else shown_path(turn.session))

    async def load() -> Mode:
        return mode

    return [Source("core/mode", load, asdict, None, _reminder, _end)]


def _reminder(mode: Mode) -> str:
    return prompt_text("plan").format(path=mode.plan) if mode.plan else prompt_text("plan_short")


def _end(mode: Mode) -> str:
    if mode.plan:
        return prompt_text("plan_to_build").format(path=mode.plan)
    return prompt_text("plan_short_to_build")


Producer = Callable[[Turn], Awaitable[Sequence[Source[Any]]]]

PRODUCERS: dict[str, Producer] = {
    "core/date": date.produce,
    "core/environment": environment.produce,
    "core/folders": folders.produce,
    "core/instructions": instructions.produce,
    "core/instructions/nested": nested.produce,
    "core/mode": plan_sources,
    "core/pins": pins.produce,
    "core/review": verdicts.produce,
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

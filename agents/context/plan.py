"""The Context Source `core/mode`: that the session is in plan mode, and that it no longer is.

Source: seed 004 §8.2, §8.3 and §8.5; as a Context Source by seed 002. It is there while the agent plans; the
text for its end is kept with it, so an agent switched by hand and an approved plan are told alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from agents.context.source import Source
from agents.definitions import prompt_text
from agents.plans import is_planning, is_short
from agents.turn import Turn
from sessions.plans import shown_path


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

    return [Source("core/mode", load, asdict, _reminder, _reminder, _end)]


def _reminder(mode: Mode) -> str:
    return prompt_text("plan").format(path=mode.plan) if mode.plan else prompt_text("plan_short")


def _end(mode: Mode) -> str:
    if mode.plan:
        return prompt_text("plan_to_build").format(path=mode.plan)
    return prompt_text("plan_short_to_build")

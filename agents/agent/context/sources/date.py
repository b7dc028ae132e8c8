"""The host's calendar date."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from agents.agent.context.source import Source
from agents.toolkit.turn import Turn


def today() -> date:
    """By the host's clock and time zone."""
    return date.today()


async def produce(turn: Turn) -> Sequence[Source[date]]:
    return [
        Source(
            "core/date",
            load=_load,
            encode=date.isoformat,
            baseline=lambda day: f"Today's date: {_written(day)}",
            update=lambda day: f"The date has changed. Today's date: {_written(day)}",
        )
    ]


async def _load() -> date:
    return today()


def _written(day: date) -> str:
    return f"{day:%a %b %d %Y}"

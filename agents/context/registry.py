"""The System Context Registry: keyed producers of sources, observed side by side (seed 002)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from agents.context.source import Source
from agents.turn import Turn

Producer = Callable[[Turn], Awaitable[Sequence[Source[Any]]]]

PRODUCERS: dict[str, Producer] = {}
"""By contribution key; sources are combined in the order of these keys. Built-in producers add themselves
in `agents.context.sources`, others (MCP, plugins) from their own rooms."""

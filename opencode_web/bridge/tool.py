"""One tool: what a client is told of it, and what it does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from opencode_web.bridge.call import Call

PREFIX = "opencode_"


class Arguments(BaseModel):
    """What every tool takes."""

    model_config = ConfigDict(extra="forbid")

    directory: str | None = Field(
        None, description="Absolute path of the project's folder; the bridge's own when left out."
    )


@dataclass(frozen=True, slots=True)
class Hints:
    """What a client may assume of a tool (MCP, ToolAnnotations)."""

    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    open_world: bool = False


READS = Hints(read_only=True, idempotent=True)
ADDS = Hints()
"""Makes something new; nothing that was there is lost."""
SETS = Hints(idempotent=True)
"""Doing it twice is doing it once."""
ENDS = Hints(destructive=True, idempotent=True)
"""Takes something away."""
ACTS = Hints(destructive=True, open_world=True)
"""An agent or a command runs, and may change files or reach the network."""
REACHES = Hints(open_world=True)
"""Speaks with somebody outside of this machine."""

Run = Callable[[Call, Any], Awaitable[str]]
"""From a call and an instance of `arguments` to the answer. Raises RemoteError."""


@dataclass(frozen=True, slots=True)
class Tool:
    """`name` is the whole name, with its prefix."""

    name: str
    title: str
    group: str
    description: str
    arguments: type[Arguments]
    hints: Hints
    run: Run
    secrets: frozenset[str] = frozenset()
    """Arguments whose values are never said again."""

    @property
    def schema(self) -> dict[str, Any]:
        return self.arguments.model_json_schema()

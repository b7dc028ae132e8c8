"""What the author of a plugin or of a custom tool works with; public as `opencode_web.plugin`.

Nothing here needs a running server, so that a plugin's own tests can import it. docs/plugins.md explains it.
"""

from __future__ import annotations

import inspect
import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel

_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]{0,63}")


FIELD_PROBLEM = "field"
"""In what an `authorize` gives: the prompt whose answer cannot be, beside a `message` that says why."""


class Refused(Exception):
    """Raised by `tool.execute.before`: the call is not made, and the model reads this text instead."""


@dataclass(frozen=True, slots=True)
class PluginContext:
    """What `plugin(ctx)` is told of where it runs. Paths are absolute; `worktree` is the project's root."""

    project: str
    directory: Path
    worktree: Path
    logger: logging.Logger


class ToolContext(Protocol):
    """What a call of a custom tool can use, from its own thread."""

    session_id: str
    message_id: str
    call_id: str
    agent: str
    directory: Path
    worktree: Path

    async def ask(self, permission: str, patterns: Sequence[str], always: Sequence[str] = ()) -> None:
        """Return when the rules or the user allow it; else the call ends here, and the model is told why."""

    async def update(self, *, title: str | None = None, metadata: Mapping[str, Any] | None = None) -> None:
        """Show progress on the card of the call."""


Output = (
    str | tuple[str, str, Mapping[str, Any]] | tuple[str, str, Mapping[str, Any], Sequence[Mapping[str, str]]]
)
"""What the model reads; or the title of the card, what the model reads, data to keep beside it, and files
that the model sees: each its `mime`, its `url` (`data:`) and perhaps a `filename`."""

Run = Callable[[Any, ToolContext], Awaitable[Output]]
Parameters = type[BaseModel] | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """One tool as its author wrote it; made by `tool`."""

    name: str
    description: str
    parameters: Parameters
    run: Run

    def schema(self) -> dict[str, Any]:
        """What the model is shown; pydantic may raise for a model it cannot describe."""
        if isinstance(self.parameters, Mapping):
            return dict(self.parameters)
        schema = self.parameters.model_json_schema()
        schema.pop("title", None)
        return schema


class _NoParameters(BaseModel):
    """A tool that is called without arguments."""


def tool(
    name: str, description: str, parameters: Parameters = _NoParameters
) -> Callable[[Run], ToolDefinition]:
    """Make a tool of `async def run(args, context)`.

    `parameters` is a pydantic model, whose instance is then `args`, or a JSON schema of type `object`, whose
    arguments are then a dictionary. Raises ValueError or TypeError for what cannot be a tool.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name for a tool: a letter, then up to 63 letters, digits, - and _")
    if not description.strip():
        raise ValueError(f"the tool {name} has no description")
    if isinstance(parameters, Mapping):
        if parameters.get("type") != "object":
            raise ValueError(f"the parameters of the tool {name} are no JSON schema of type object")
        json.dumps(parameters)
    elif not (inspect.isclass(parameters) and issubclass(parameters, BaseModel)):
        raise TypeError(f"the parameters of the tool {name} are neither a pydantic model nor a JSON schema")

    def made(run: Run) -> ToolDefinition:
        if not inspect.iscoroutinefunction(run):
            raise TypeError(f"the tool {name} has to be an async function")
        definition = ToolDefinition(name, description.strip(), parameters, run)
        definition.schema()
        return definition

    return made

"""A tool as its author wrote it becomes a tool of the registry."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agents.permission.errors import NotPermitted
from agents.permission.rules import Floor
from agents.plugins.authors import ToolDefinition
from agents.plugins.host import Host, Hung
from agents.tools.base import FreeInput, Tool, ToolContext, ToolError, ToolResult
from agents.turn import Turn
from sessions.wire.patterns import EVERYTHING, is_everything, matches

logger = logging.getLogger(__name__)


def adapted(definition: ToolDefinition, *, repository: bool) -> Tool[FreeInput]:
    """Its permission has its name. One of a repository asks unless a rule names it, whatever `*` says: that
    its code is trusted does not say that the model may use it as it likes."""
    return Tool(
        name=definition.name,
        description=definition.description,
        input=FreeInput,
        execute=partial(_execute, definition, repository),
        permission=definition.name,
        parameters=definition.schema(),
    )


async def _execute(
    definition: ToolDefinition, repository: bool, input: FreeInput, ctx: ToolContext
) -> ToolResult:
    """Each call has a thread and an event loop of its own, so that one that blocks holds up nobody. What it
    changed in the project goes into the ledger."""
    arguments = dict(input.model_extra or {})
    if repository and not _is_named(ctx.turn, definition.name):
        ctx.turn = replace(ctx.turn, rules=[*ctx.turn.rules, Floor(definition.name, EVERYTHING, "ask")])
    metadata = {"tool": definition.name, "input": arguments}
    await ctx.ask(definition.name, [EVERYTHING], always=[EVERYTHING], metadata=metadata)
    call = _Call(definition, arguments, _Bridge.of(ctx))
    await ctx.around_shell(call.run)
    return _result(definition.name, call.output)


def _is_named(turn: Turn, name: str) -> bool:
    return any(matches(rule.permission, name) and not is_everything(rule.permission) for rule in turn.rules)


@dataclass(slots=True)
class _Call:
    definition: ToolDefinition
    arguments: dict[str, Any]
    bridge: _Bridge
    output: Any = None

    async def run(self) -> None:
        """As long as it takes: the user's stop ends it."""
        host = Host(self.definition.name)
        try:
            self.output = await host.call(self._apart, None)
        except (NotPermitted, ToolError):
            raise
        except Hung as error:
            raise ToolError("The tool ended its own event loop.") from error
        except Exception as error:
            logger.warning("the tool %s failed", self.definition.name, exc_info=error)
            raise ToolError(f"The tool failed: {type(error).__name__}: {error}") from error
        finally:
            host.close()

    async def _apart(self) -> Any:
        return await self.definition.run(_given(self.definition, self.arguments), self.bridge)


def _given(definition: ToolDefinition, arguments: dict[str, Any]) -> Any:
    """An instance of the author's model, or the arguments with all that its schema requires."""
    parameters = definition.parameters
    if isinstance(parameters, Mapping):
        if missing := [name for name in parameters.get("required", ()) if name not in arguments]:
            raise ToolError(
                f"The arguments of {definition.name} are invalid: {', '.join(missing)} is missing."
            )
        return arguments
    try:
        return parameters.model_validate(arguments)
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, item['loc'])) or 'input'}: {item['msg']}"
            for item in error.errors(include_url=False)
        )
        raise ToolError(f"The arguments of {definition.name} are invalid: {wrong}.") from error


def _result(name: str, output: Any) -> ToolResult:
    match output:
        case str():
            return ToolResult(title=name, output=output)
        case (str() as title, str() as text, Mapping() as metadata):
            try:
                kept: dict[str, Any] = json.loads(json.dumps(dict(metadata), allow_nan=False))
            except (TypeError, ValueError) as error:
                raise ToolError(f"The metadata of the tool {name} is no JSON: {error}") from error
            return ToolResult(title=title, output=text, metadata=kept)
    raise ToolError(
        f"The tool {name} returned {type(output).__name__}, which is neither a text nor "
        "(title, text, metadata)."
    )


@dataclass(slots=True)
class _Bridge:
    """`agents.plugins.authors.ToolContext` for the tool's thread; the work is done on the turn's loop."""

    session_id: str
    message_id: str
    call_id: str
    agent: str
    directory: Path
    worktree: Path
    _context: ToolContext
    _loop: asyncio.AbstractEventLoop

    @classmethod
    def of(cls, ctx: ToolContext) -> _Bridge:
        return cls(
            ctx.session_id,
            ctx.message_id,
            ctx.call_id,
            ctx.agent,
            ctx.directory,
            ctx.worktree,
            ctx,
            asyncio.get_running_loop(),
        )

    async def ask(self, permission: str, patterns: Sequence[str], always: Sequence[str] = ()) -> None:
        asking = self._context.ask(permission, patterns, always=always)
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_held(asking), self._loop))

    async def update(self, *, title: str | None = None, metadata: Mapping[str, Any] | None = None) -> None:
        telling = self._context.update(title=title, metadata=metadata)
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_held(telling), self._loop))


async def _held(work: Any) -> None:
    await work

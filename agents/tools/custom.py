"""Custom tools and the tools of plugins take part in every turn of their folder."""

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

from agents.plugins.authors import ToolDefinition
from agents.plugins.host import Host, Hung
from agents.plugins.loaded import refreshed
from agents.plugins.plugin import Plugin
from agents.toolkit.base import Attachment, FreeInput, Tool, ToolContext, ToolError, ToolResult
from agents.toolkit.permission.errors import NotPermitted
from agents.toolkit.permission.rules import Floor
from agents.toolkit.turn import Turn
from agents.tools.registry import BUILTIN, CONTRIBUTORS
from sessions.core.data_url import content_of
from sessions.core.wire.patterns import EVERYTHING, is_everything, matches

NAME = "plugins and custom tools"


async def contributed(turn: Turn) -> Sequence[Tool[Any]]:
    """The tools of a turn's folder, as its files are now. A built-in tool keeps its name, and of two tools of
    one name the first counts: the user's own come before the project's."""
    taken = {tool.name: "a built-in tool" for tool in BUILTIN}
    found: list[Tool[Any]] = []
    for plugin in await refreshed(turn.session):
        for definition in plugin.tools:
            if definition.name in taken:
                _complain(plugin, definition.name, taken[definition.name])
                continue
            taken[definition.name] = str(plugin.file)
            found.append(adapted(definition, repository=plugin.repository))
    return found


def _complain(plugin: Plugin, name: str, other: str) -> None:
    """Once for each loading of the file."""
    key = f"tool {name}"
    if key not in plugin.told:
        plugin.told.add(key)
        plugin.fault(key, f"left out: {other} has this name")


def register() -> None:
    CONTRIBUTORS[NAME] = contributed


# A tool as its author wrote it becomes a tool of the registry.

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
    call = _CustomCall(definition, arguments, _Bridge.of(ctx))
    await ctx.around_shell(call.run)
    return _result(definition.name, call.output)


def _is_named(turn: Turn, name: str) -> bool:
    return any(matches(rule.permission, name) and not is_everything(rule.permission) for rule in turn.rules)


@dataclass(slots=True)
class _CustomCall:
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
        case (str() as title, str() as text, Mapping() as metadata, *files) if len(files) < 2:
            try:
                kept: dict[str, Any] = json.loads(json.dumps(dict(metadata), allow_nan=False))
            except (TypeError, ValueError) as error:
                raise ToolError(f"The metadata of the tool {name} is no JSON: {error}") from error
            attachments = [_attachment(name, file) for file in (files[0] if files else ())]
            return ToolResult(title=title, output=text, metadata=kept, attachments=attachments)
    raise ToolError(
        f"The tool {name} returned {type(output).__name__}, which is neither a text nor "
        "(title, text, metadata), perhaps with files."
    )


def _attachment(name: str, file: Any) -> Attachment:
    """Raises ToolError."""
    match file:
        case {"mime": str() as mime, "url": str() as url} if content_of(url) is not None:
            return Attachment(mime, url, str(file.get("filename") or ""))
    raise ToolError(f"The tool {name} gave a file that has no mime, or no data: URL that can be read.")


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

"""`lsp`: what language servers know of a place in the code, or of a name.

The operations and arguments are those of OpenCode's experimental tool of this name.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from agents.servers.lsp.outline import of_document, of_workspace
from agents.servers.lsp.service import service
from agents.servers.lsp.types import Failed, Location, Symbol
from agents.servers.lsp.uses import columns, navigate
from agents.servers.lsp.uses.feedback import folder_of
from agents.servers.lsp.uses.navigate import Operation
from agents.servers.lsp.uses.symbols import kind_of
from agents.toolkit.base import Tool, ToolContext, ToolError, ToolResult
from agents.toolkit.file_names import printable
from agents.toolkit.permission.rules import evaluate
from agents.toolkit.shared.paths import Target, authorise, missing, read_pattern, relative
from agents.toolkit.turn import Turn
from agents.tools.registry import CONTRIBUTORS
from sessions.core.store.added_folders import holding

MOST_LISTED = 200
MOST_FILES = 50
"""Files whose lines are quoted."""
MAX_BYTES = 2 * 1024 * 1024
"""Of a file whose lines are quoted."""
MAX_LINE = 200
LOOK_SECONDS = 30.0
"""After which it is looked again whether there is a server where there was none."""
KEPT_RESULT = 32 * 1024
"""Characters up to which the metadata carry the servers' own answer."""

DESCRIPTION = """\
Ask the language server about code; it knows what text search can only guess. `filePath`, `line` and \
`character` (both from 1, as `read` numbers lines) say where the name stands that you ask about.
- goToDefinition, goToImplementation: where it is defined, or an interface is implemented
- findReferences: every place that uses it; look there before you rename or change something
- hover: its type and documentation
- documentSymbol: the outline of a file
- workspaceSymbol: what in the whole project has a name that fits `query`; any file of the language will do
- prepareCallHierarchy, incomingCalls, outgoingCalls: the function there, who calls it, what it calls"""


class Input(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    operation: Operation = Field(description="What to ask.")
    file_path: str = Field(alias="filePath", description="The file, absolute or from the session's folder.")
    line: int = Field(1, ge=1, description="The line, counted from 1.")
    character: int = Field(1, ge=1, description="The column in the line, counted from 1.")
    query: str = Field("", description="Of workspaceSymbol: a part of the name; empty for all.")


async def execute(args: Input, ctx: ToolContext) -> ToolResult:
    """Ask `lsp`, then the servers; raises ToolError when there is none, or none that answers."""
    target = await authorise(ctx, args.file_path, "read")
    place = {"operation": args.operation, "filepath": printable(str(target.path))}
    asked = {**place, "line": args.line, "character": args.character, "query": args.query}
    await ctx.ask("lsp", target.patterns, always=["*"], metadata=asked)
    content = await asyncio.to_thread(_content, ctx, target)
    folder = folder_of(ctx, target.path)
    if not await service.serves(folder, target.path):
        raise ToolError(f"No language server that runs here is for {target.title}.")
    at = columns.meant(args.line, args.character, columns.lines_of(content))
    try:
        found = await navigate.ask(folder, args.operation, target.path, at, args.query, content)
    except Failed as error:
        raise ToolError(f"The language server did not answer: {error}") from error
    lines = list(await asyncio.to_thread(_told, ctx, args.operation, target, found))
    count = {} if args.operation == "hover" else {"count": len(lines)}
    return ToolResult(_title(args, target), _output(lines), {"result": _kept(found), **count})


def _content(ctx: ToolContext, target: Target) -> bytes:
    try:
        content = ctx.read_file(target.path)
    except IsADirectoryError as error:
        raise ToolError(f"{target.title} is a directory: name a file in it.") from error
    if content is None:
        raise missing(ctx, target)
    return content


def _title(args: Input, target: Target) -> str:
    if args.operation == "workspaceSymbol":
        return f"{args.operation} {args.query}".strip()
    place = "" if args.operation == "documentSymbol" else f":{args.line}:{args.character}"
    return f"{args.operation} {target.title}{place}"


def _output(lines: Sequence[str]) -> str:
    more = [f"({len(lines) - MOST_LISTED} more)"] if len(lines) > MOST_LISTED else []
    return "\n".join([*lines[:MOST_LISTED], *more]) or "Nothing was found."


def _told(ctx: ToolContext, operation: Operation, target: Target, found: Sequence[Any]) -> Iterator[str]:
    """One line for each thing found; a hover is one text. Blocks."""
    quoted = _Quoted(ctx)
    if operation == "hover":
        yield from navigate.hovers(found)
    elif operation == "documentSymbol":
        yield from (quoted.symbol(item, target.path) for item in of_document(list(found), target.path))
    elif operation == "workspaceSymbol":
        yield from (quoted.symbol(item) for item in of_workspace(list(found)))
    elif operation in ("prepareCallHierarchy", "incomingCalls", "outgoingCalls"):
        for call in navigate.calls(found, target.path):
            yield quoted.symbol(call.symbol)
            yield from (f"  {line}" for line in quoted.places(call.uses))
    else:
        yield from quoted.places(navigate.locations(found))


def _kept(found: Sequence[Any]) -> list[Any]:
    """The servers' own answer for clients; as much of it as is not too long to keep."""
    kept, room = [], KEPT_RESULT
    for item in found:
        room -= len(json.dumps(item))
        if room < 0:
            break
        kept.append(item)
    return kept


class _Quoted:
    """Places with the line that is there, as far as the rules let the model read that file. Blocks."""

    def __init__(self, ctx: ToolContext) -> None:
        self._ctx = ctx
        self._files: dict[Path, list[str]] = {}

    def places(self, locations: Iterable[Location]) -> Iterator[str]:
        for location in locations:
            text = self._line(location).strip()[:MAX_LINE]
            yield f"{self._where(location)}: {printable(text)}" if text else self._where(location)

    def symbol(self, symbol: Symbol, within: Path | None = None) -> str:
        """A symbol on a line; `within` is the file that all are in."""
        kind, inside = kind_of(symbol), f" in {symbol.container}" if symbol.container else ""
        first, last = symbol.location.range.start.line + 1, symbol.location.range.end.line + 1
        lines = f"{first}-{last}" if last > first else str(first)
        where = lines if within else self._where(symbol.location)
        return printable(f"{where}: {kind} {symbol.name}{inside}")

    def _where(self, location: Location) -> str:
        line, column = columns.shown(location.range.start, self._lines(location.path))
        return f"{relative(location.path, self._ctx.worktree.resolve())}:{line}:{column}"

    def _line(self, location: Location) -> str:
        lines = self._lines(location.path)
        return lines[location.range.start.line] if location.range.start.line < len(lines) else ""

    def _lines(self, path: Path) -> list[str]:
        if path not in self._files:
            may = len(self._files) < MOST_FILES and self._may_read(path)
            self._files[path] = self._read(path) if may else []
        return self._files[path]

    def _may_read(self, path: Path) -> bool:
        inside = path.is_relative_to(self._ctx.worktree.resolve()) or holding(self._ctx.turn.folders, path)
        rule = evaluate("read", read_pattern(self._ctx, path), self._ctx.turn.rules)
        return bool(inside) and rule.action == "allow"

    def _read(self, path: Path) -> list[str]:
        try:
            content = self._ctx.read_file(path) if path.stat().st_size <= MAX_BYTES else None
        except OSError:
            return []
        return columns.lines_of(content or b"")


TOOL = Tool("lsp", DESCRIPTION, Input, execute, "lsp")


_looked: dict[Path, tuple[bool, float]] = {}
"""By folder: whether a server could answer, and when to look again. What was offered once stays offered: a
request with other tools has another beginning, which no provider has cached."""


async def contributed(turn: Turn) -> Sequence[Tool[Any]]:
    """The tool, where a server could answer anything about the project."""
    if not turn.config.lsp:
        return []
    serves, at = _looked.get(turn.directory, (False, 0.0))
    if not serves and time.monotonic() >= at:
        serves = await service.serves(turn.directory)
        _looked[turn.directory] = serves, time.monotonic() + LOOK_SECONDS
    return [TOOL] if serves else []


def register() -> None:
    CONTRIBUTORS[TOOL.name] = contributed

"""A file of this machine that a prompt names by `file://…?start=…&end=…`, or a symbol in one: read as the
`read` tool reads it.

The person attached it, so what the rules would ask about is answered; what they deny stays denied.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote_to_bytes, urlsplit

from agents.agent.attachments.readers import READERS, Parts, Reading, said
from agents.agent.calls.clock import Clock
from agents.agent.calls.context import CallContext
from agents.servers.lsp.service import service
from agents.servers.lsp.types import Failed, Position, Range, Symbol
from agents.servers.lsp.uses.feedback import folder_of
from agents.toolkit.base import Approval, Outcome, ToolError, ToolResult
from agents.toolkit.file_names import printable
from agents.toolkit.permission.errors import NotPermitted, PermissionDenied
from agents.toolkit.permission.rules import Ruleset, judge
from agents.tools import read
from sessions.core.wire.parts import Pending, ToolPart

NAME = "files"


async def attached(reading: Reading, part: Mapping[str, Any]) -> Parts | None:
    """What the file holds, in words before the part; a picture or a PDF becomes the part's own content."""
    url = urlsplit(str(part["url"]))
    if url.scheme != "file":
        return None
    path = Path(os.fsdecode(unquote_to_bytes(url.path)))
    title = printable(str(path))
    try:
        if url.netloc not in ("", "localhost"):
            raise ToolError(f"{url.netloc} is another machine.")
        ctx = _Attached(reading)
        lines = await lines_of(folder_of(ctx, path), path, url.query, part.get("source") or {})
        result = await read.execute(_input(path, lines), ctx)
    except (ToolError, NotPermitted) as error:
        return [said(f"[The attached file {title} is not included. {error}]"), _as_text(part)]
    return _parts(part, title, lines, result)


def register() -> None:
    READERS[NAME] = attached


def _input(path: Path, lines: Lines | None) -> read.Input:
    given: dict[str, Any] = {"filePath": str(path)}
    if lines is not None:
        given["offset"] = lines.first
        if lines.last is not None:
            given["limit"] = lines.last - lines.first + 1
    return read.Input.model_validate(given)


def _parts(part: Mapping[str, Any], title: str, lines: Lines | None, result: ToolResult) -> Parts:
    if result.attachments:
        (file,) = result.attachments
        return [{**part, "mime": file.mime, "url": file.url}]
    what = f"{title}{_where(lines)}" if lines else title
    return [said(f"The user attached {what}:\n{result.output}"), _as_text(part)]


def _as_text(part: Mapping[str, Any]) -> dict[str, Any]:
    """The part that people see, of a kind that is not sent beside the words."""
    known = part["mime"].startswith("text/") or part["mime"] == "application/x-directory"
    return {**part} if known else {**part, "mime": "text/plain"}


def _where(lines: Lines) -> str:
    """Such as `, greet (lines 3 to 9)`."""
    name = f", {printable(lines.symbol)[:200]}" if lines.symbol else ""
    if lines.last is None:
        return f"{name} (from line {lines.first})"
    return (
        f"{name} (lines {lines.first} to {lines.last})"
        if lines.last > lines.first
        else f"{name} (line {lines.first})"
    )


class _Attached(CallContext):
    """Reads for a prompt that is being promoted, which no call is part of."""

    def __init__(self, reading: Reading) -> None:
        part = ToolPart(
            id="",
            session_id=reading.run.session.id,
            message_id=reading.message_id,
            call_id="",
            tool="read",
            state=Pending(),
        )
        super().__init__(reading.run, reading.turn, part, Clock(part), _no_calls)

    async def ask(
        self,
        permission: str,
        patterns: Sequence[str],
        *,
        always: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        outdated: Callable[[], bool] | None = None,
        rules: Ruleset | None = None,
    ) -> Approval:
        verdict = judge(permission, patterns, self.turn.rules if rules is None else rules, ())
        if verdict.action == "deny":
            raise PermissionDenied(verdict.rules[0])
        return Approval()


async def _no_calls(outer: ToolPart, clock: Clock, name: str, arguments: Mapping[str, Any]) -> Outcome:
    raise ToolError("An attachment makes no calls.")


# Which lines of a file an attachment means: its own range, or the whole of the symbol that it names.
#
# What a workspace search gives is often the place of a name alone, and the file may have
# changed since; the symbols of the document as it is now have the whole range.

logger = logging.getLogger(__name__)

SECONDS = 5.0
"""How long a prompt waits for the symbols of a file, a server's start included."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Counted from 1, the last one included (None: to the end); `symbol` is the name of what they are."""

    first: int
    last: int | None = None
    symbol: str = ""


async def lines_of(directory: Path, path: Path, query: str, source: Mapping[str, Any]) -> Lines | None:
    """What `?start=…&end=…` (lines from 1) or the `source` of a file part mean; None for the whole file."""
    name, place = _symbol(source)
    if place is not None:
        found = await _whole(directory, path, place, name)
        return _lines(found or place, name)
    first, last = _number(query, "start"), _number(query, "end")
    if not first:
        return None
    if first == last and (whole := await _whole(directory, path, _line(first), "")):
        return _lines(whole, "")
    return Lines(first, max(first, last) if last else None)


def matching(symbols: Sequence[Symbol], place: Range, name: str) -> Symbol | None:
    """The symbol of a document that a place means: the innermost of that name around it, else the nearest of
    that name, as the file may have changed, else the outermost that begins in its line."""
    named = [item for item in symbols if name and _same(item.name, name)]
    around = [item for item in named if _contains(item.location.range, place.start)]
    if around:
        return max(around, key=lambda item: item.location.range.start)
    if named:
        return min(named, key=lambda item: abs(item.location.range.start.line - place.start.line))
    begins = [item for item in symbols if item.location.range.start.line == place.start.line]
    return max(begins, key=lambda item: item.location.range.end, default=None)


async def _whole(directory: Path, path: Path, place: Range, name: str) -> Range | None:
    try:
        symbols = await service.document_symbols(directory, path, within=SECONDS)
    except (Failed, OSError, ValueError) as problem:
        logger.info("no symbols of %s: %s", path, problem)
        return None
    found = matching(symbols, place, name)
    return found.location.range if found else None


def _symbol(source: Mapping[str, Any]) -> tuple[str, Range | None]:
    """The name and the place of a symbol, where a client sent one."""
    if source.get("type") != "symbol":
        return "", None
    try:
        return str(source.get("name") or ""), Range.parse(source["range"])
    except (KeyError, TypeError, ValueError):
        return "", None


def _lines(range: Range, symbol: str) -> Lines:
    ends_before = range.end.character == 0 and range.end.line > range.start.line
    return Lines(range.start.line + 1, range.end.line + (not ends_before), symbol)


def _line(number: int) -> Range:
    return Range(Position(number - 1, 0), Position(number - 1, 0))


def _number(query: str, key: str) -> int:
    """From 1; 0 for none."""
    given = parse_qs(query).get(key, [""])[0]
    return min(int(given), 10**9) if given.isdecimal() and len(given) < 12 else 0


def _contains(range: Range, place: Position) -> bool:
    return range.start <= place <= range.end


def _same(name: str, wanted: str) -> bool:
    """Some servers put the name of the package or the type before that of the symbol."""
    return _SEPARATORS.split(name)[-1] == _SEPARATORS.split(wanted)[-1]


_SEPARATORS = re.compile(r"\.|::|#")

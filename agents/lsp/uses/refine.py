"""Which lines of a file an attachment means: its own range, or the whole of the symbol that it names.

Source: seed 000 §5.4. What a workspace search gives is often the place of a name alone, and the file may have
changed since; the symbols of the document as it is now have the whole range.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from agents.lsp.service import service
from agents.lsp.types import Failed, Position, Range, Symbol

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

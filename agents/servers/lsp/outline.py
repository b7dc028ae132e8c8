"""Symbols as language servers answer them (LSP 3.17: SymbolInformation, DocumentSymbol, WorkspaceSymbol)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agents.servers.lsp.client.encoding import path_of
from agents.servers.lsp.types import Location, Position, Range, Symbol

MOST_NAME = 500
"""Characters."""
_START = Range(Position(0, 0), Position(0, 0))


def of_workspace(answer: Any) -> Iterator[Symbol]:
    """What is not understood, or lies in no file, is left out."""
    for item in answer if isinstance(answer, list) else ():
        try:
            location = item["location"]
            path = path_of(location["uri"])
            # A WorkspaceSymbol may come without its range.
            place = Range.parse(location["range"]) if "range" in location else _START
            if path is not None:
                yield _symbol(item, Location(path, place), str(item.get("containerName") or ""))
        except (KeyError, TypeError, ValueError, OverflowError):
            continue


def of_document(answer: Any, path: Path, container: str = "") -> Iterator[Symbol]:
    """Outer ones first, each with its whole range."""
    for item in answer if isinstance(answer, list) else ():
        try:
            place = Range.parse(item["range"] if "range" in item else item["location"]["range"])
            symbol = _symbol(item, Location(path, place), container or str(item.get("containerName") or ""))
        except (KeyError, TypeError, ValueError, OverflowError):
            continue
        yield symbol
        yield from of_document(item.get("children"), path, symbol.name)


def _symbol(item: Any, location: Location, container: str) -> Symbol:
    return Symbol(str(item["name"])[:MOST_NAME], int(item["kind"]), location, container[:MOST_NAME])

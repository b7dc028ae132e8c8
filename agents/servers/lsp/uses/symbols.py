"""Symbols of a project by name, and what their kinds are called.

The kinds that a search gives are those that OpenCode asks for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from agents.servers.lsp.service import service
from agents.servers.lsp.types import Symbol

KINDS = dict(
    enumerate(
        "file module namespace package class method property field constructor enum interface function"
        " variable constant string number boolean array object key null enum-member struct event operator"
        " type-parameter".split(),
        start=1,
    )
)
"""Names of the protocol's SymbolKind."""

SEARCHED = frozenset({"class", "function", "method", "interface", "variable", "constant", "struct", "enum"})
MOST_FOUND = 10


def kind_of(symbol: Symbol) -> str:
    return KINDS.get(symbol.kind, "symbol")


async def find_symbols(directory: Path, query: str, limit: int = MOST_FOUND) -> list[Symbol]:
    """The symbols in a folder that fit a query, the best first, of the servers that run."""
    folder = await asyncio.to_thread(directory.resolve)
    return best(await service.symbols(directory, query), folder, query, limit)


def best(found: Iterable[Symbol], folder: Path, query: str, limit: int) -> list[Symbol]:
    """Those in the folder, each once: the exact name, then by how it begins, then what has it within, then
    what the server thought to fit. What is defined counts more than what a name is bound to."""
    wanted = {
        (item.name, item.location.path, item.location.range.start): item
        for item in found
        if kind_of(item) in SEARCHED and item.location.path.is_relative_to(folder)
    }
    return sorted(wanted.values(), key=lambda item: _rank(item, query))[:limit]


def wire(symbols: Sequence[Symbol]) -> list[dict[str, Any]]:
    """In the protocol's shape, as `/find/symbol` answers."""
    return [
        {
            "name": item.name,
            "kind": item.kind,
            "location": {"uri": item.location.path.as_uri(), "range": item.location.range.wire()},
        }
        for item in symbols
    ]


def _rank(symbol: Symbol, query: str) -> tuple[bool, bool, bool, bool, bool, int, str]:
    name, sought = symbol.name.rpartition(".")[2], query
    low, low_sought = name.lower(), sought.lower()
    return (
        name != sought,
        low != low_sought,
        not low.startswith(low_sought),
        low_sought not in low,
        kind_of(symbol) in ("variable", "constant"),
        len(name),
        f"{symbol.name} {symbol.location.path}",
    )

"""Questions about a place in the code, and what servers answer to them in one form.

Answers come in several shapes of the Language Server Protocol 3.17 (a location, a list, links; text, marked
strings, markup); what has none of them is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from agents.servers.lsp.client.encoding import path_of, uri_of
from agents.servers.lsp.service import service
from agents.servers.lsp.types import Location, Position, Range, Symbol

Operation = Literal[
    "goToDefinition",
    "findReferences",
    "hover",
    "documentSymbol",
    "workspaceSymbol",
    "goToImplementation",
    "prepareCallHierarchy",
    "incomingCalls",
    "outgoingCalls",
]
"""As OpenCode names them."""

METHODS: dict[Operation, str] = {
    "goToDefinition": "textDocument/definition",
    "findReferences": "textDocument/references",
    "hover": "textDocument/hover",
    "documentSymbol": "textDocument/documentSymbol",
    "workspaceSymbol": "workspace/symbol",
    "goToImplementation": "textDocument/implementation",
    "prepareCallHierarchy": "textDocument/prepareCallHierarchy",
}
CALLS: dict[Operation, str] = {
    "incomingCalls": "callHierarchy/incomingCalls",
    "outgoingCalls": "callHierarchy/outgoingCalls",
}
"""Asked for each item of the call hierarchy at the place."""

SECONDS = 20.0
"""How long a question may take, a server's start included."""


@dataclass(frozen=True, slots=True)
class Call:
    """An item of a call hierarchy; `uses` are the places where it is called, in the caller's file."""

    symbol: Symbol
    uses: tuple[Location, ...] = ()


async def ask(
    directory: Path, operation: Operation, path: Path, place: Position, query: str, content: bytes
) -> list[Any]:
    """What all servers of a file with this content answer, as they put it, in one list. Raises Failed."""

    async def answers(method: str, params: dict[str, Any]) -> list[Any]:
        given = await service.ask(directory, path, method, params, SECONDS, content=content)
        return [item for _, answer in given for item in _listed(answer)]

    method = METHODS.get(operation, METHODS["prepareCallHierarchy"])
    items = await answers(method, _params(operation, path, place, query))
    if operation not in CALLS:
        return items
    return [call for item in items for call in await answers(CALLS[operation], {"item": item})]


def locations(items: Iterable[Any]) -> list[Location]:
    """Each once, in order."""
    found = (
        _location(item.get("uri", item.get("targetUri")), item.get("range", item.get("targetSelectionRange")))
        for item in items
        if isinstance(item, dict)
    )
    return list(dict.fromkeys(location for location in found if location is not None))


def hovers(items: Iterable[Any]) -> list[str]:
    """The texts, each once; Markdown as it is."""
    texts = (_text(item.get("contents")).strip() for item in items if isinstance(item, dict))
    return list(dict.fromkeys(text for text in texts if text))


def calls(items: Iterable[Any], asked: Path) -> Iterator[Call]:
    """Items of a call hierarchy, or calls from or to the one that was asked about, in file `asked`."""
    for item in items:
        other = item.get("from", item.get("to", item)) if isinstance(item, dict) else None
        if not isinstance(other, dict):
            continue
        place = _location(other.get("uri"), other.get("selectionRange"))
        if place is None:
            continue
        caller = place.path if "from" in item else asked
        uses = (_location(uri_of(caller), range) for range in _listed(item.get("fromRanges")))
        kind = other.get("kind")
        symbol = Symbol(str(other.get("name", "")), kind if isinstance(kind, int) else 0, place)
        yield Call(symbol, tuple(use for use in uses if use is not None))


def _params(operation: Operation, path: Path, place: Position, query: str) -> dict[str, Any]:
    if operation == "workspaceSymbol":
        return {"query": query}
    params: dict[str, Any] = {"textDocument": {"uri": uri_of(path)}}
    if operation != "documentSymbol":
        params["position"] = {"line": place.line, "character": place.character}
    if operation == "findReferences":
        params["context"] = {"includeDeclaration": True}
    return params


def _listed(answer: Any) -> Sequence[Any]:
    if answer is None:
        return ()
    return answer if isinstance(answer, list) else (answer,)


def _location(uri: Any, range: Any) -> Location | None:
    path = path_of(uri)
    try:
        return Location(path, Range.parse(range)) if path is not None else None
    except (KeyError, TypeError, ValueError):
        return None


def _text(contents: Any) -> str:
    if isinstance(contents, list):
        return "\n\n".join(text for item in contents if (text := _text(item)))
    if isinstance(contents, dict):
        value = str(contents.get("value", ""))
        return f"```{contents['language']}\n{value}\n```" if "language" in contents else value
    return contents if isinstance(contents, str) else ""

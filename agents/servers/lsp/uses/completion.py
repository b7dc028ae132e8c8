"""The symbols that `@` in the composer offers."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections import Counter
from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from agents.servers.lsp.types import Symbol
from agents.servers.lsp.uses.symbols import find_symbols, kind_of
from sessions.core.above import agents
from sessions.web.access import located

logger = logging.getLogger(__name__)

SECONDS = 3.0
SHORTEST = 2
"""Characters from which on names are worth a search."""
ICONS = {
    "class": "type",
    "interface": "type",
    "struct": "type",
    "enum": "type",
    "variable": "variable",
    "constant": "variable",
}


@require_GET
async def options(request: HttpRequest) -> HttpResponse:
    """The symbols of `?session=` or `?project=` whose names fit `?q=`, as options of the composer: those of
    its folder, then those of folders beside the project that may be written."""
    place, query = await located(request.GET), request.GET.get("q", "")
    found: list[tuple[str, Symbol]] = []
    if len(query) >= SHORTEST and "/" not in query:
        folders = await asyncio.to_thread(agents().folders, place.project, place.session)
        beside = {folder.name: folder.path for folder in folders if folder.write}
        searched = (
            _of_folder(name, folder, query) for name, folder in {"": place.directory, **beside}.items()
        )
        found = [one for some in await asyncio.gather(*searched) for one in some]
    words = Counter(_words(path, symbol) for path, symbol in found)
    listed = [_option(path, symbol, words) for path, symbol in found]
    return render(request, "pickers/symbols.html", {"symbols": listed})


async def _of_folder(name: str, directory: Path, query: str) -> list[tuple[str, Symbol]]:
    """With the path of each as a prompt may mention it: that of a folder beside the project begins with its
    `name`."""
    try:
        async with asyncio.timeout(SECONDS):
            found = await find_symbols(directory, query)
    except TimeoutError:
        logger.info("no symbols of %s to complete: the language servers took too long", directory)
        return []
    folder = await asyncio.to_thread(directory.resolve)
    return [(str(Path(name) / symbol.location.path.relative_to(folder)), symbol) for symbol in found]


def _option(path: str, symbol: Symbol, words: Counter[str]) -> dict[str, Any]:
    """`words` stand for the symbol in the prompt, `part` is what they become."""
    location, kind = symbol.location, kind_of(symbol)
    first, last = location.range.start.line + 1, location.range.end.line + 1
    mention = _words(path, symbol)
    return {
        "name": symbol.name,
        "kind": kind,
        "icon": ICONS.get(kind, "function"),
        "place": f"{path}:{first}",
        "words": f"{mention}:{first}" if words[mention] > 1 else mention,
        "part": json.dumps(_part(symbol, first, last)),
    }


def _part(symbol: Symbol, first: int, last: int) -> dict[str, Any]:
    """A file part in OpenCode's shape, but for its place in the text."""
    path = symbol.location.path
    return {
        "mime": "text/plain",
        "url": f"{path.as_uri()}?start={first}&end={last}",
        "filename": path.name,
        "source": {
            "type": "symbol",
            "path": str(path),
            "range": symbol.location.range.wire(),
            "name": symbol.name,
            "kind": symbol.kind,
        },
    }


def _words(path: str, symbol: Symbol) -> str:
    """Such as `@src/app.py#greet`: one word, and not that of a symbol in another file."""
    return "@" + re.sub(r"\s+", "_", f"{path}#{symbol.name}")

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
    """The symbols of `?session=` or `?project=` whose names fit `?q=`, as options of the composer."""
    directory, query = (await located(request.GET)).directory, request.GET.get("q", "")
    found: list[Symbol] = []
    if len(query) >= SHORTEST and "/" not in query:
        try:
            async with asyncio.timeout(SECONDS):
                found = await find_symbols(directory, query)
        except TimeoutError:
            logger.info("no symbols of %s to complete: the language servers took too long", directory)
    folder = await asyncio.to_thread(directory.resolve)
    words = Counter(_words(symbol, folder) for symbol in found)
    listed = [_option(symbol, folder, words) for symbol in found]
    return render(request, "pickers/symbols.html", {"symbols": listed})


def _option(symbol: Symbol, folder: Path, words: Counter[str]) -> dict[str, Any]:
    """`words` stand for the symbol in the prompt, `part` is what they become."""
    location, kind = symbol.location, kind_of(symbol)
    first, last = location.range.start.line + 1, location.range.end.line + 1
    mention = _words(symbol, folder)
    return {
        "name": symbol.name,
        "kind": kind,
        "icon": ICONS.get(kind, "function"),
        "place": f"{location.path.relative_to(folder)}:{first}",
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


def _words(symbol: Symbol, folder: Path) -> str:
    """Such as `@src/app.py#greet`: one word, and not that of a symbol in another file."""
    named = f"{symbol.location.path.relative_to(folder)}#{symbol.name}"
    return "@" + re.sub(r"\s+", "_", named)

"""Positions count UTF-16 code units here. A server that insists on UTF-8 or UTF-32 (LSP 3.17,
"PositionEncodingKind") has what it sends and is sent converted."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

UTF_16 = "utf-16"
_WIDTH = {UTF_16: 2, "utf-32": 4, "utf-8": 1}
_CODEC = {UTF_16: "utf-16-le", "utf-32": "utf-32-le", "utf-8": "utf-8"}
_ENDS = re.compile(r"\r\n|\r|\n")

LinesOf = Callable[[Path], Sequence[str] | None]
"""The lines of a file without their ends; None when they are not known."""


def known(encoding: Any) -> str:
    """An encoding that can be converted; the protocol's own for anything else."""
    return encoding if encoding in _WIDTH else UTF_16


def length(text: str, encoding: str) -> int:
    return len(text.encode(_CODEC[encoding], "surrogatepass")) // _WIDTH[encoding]


def lines(text: str) -> list[str]:
    """As the protocol counts them, without their ends."""
    return _ENDS.split(text)


def moved(line: str, character: int, source: str, target: str) -> int:
    """The same place of a line in another encoding; beyond the line's end is its end."""
    data = line.encode(_CODEC[source], "surrogatepass")[: character * _WIDTH[source]]
    return length(data.decode(_CODEC[source], "ignore"), target)


class Converter:
    """Converts every position in plain JSON; a position belongs to the file that is named nearest around it,
    else to `path`."""

    def __init__(self, encoding: str, lines_of: LinesOf) -> None:
        self.encoding = encoding
        self._lines_of = lines_of

    def incoming(self, value: Any, path: Path | None = None) -> Any:
        return self._walk(value, path, self.encoding, UTF_16)

    def outgoing(self, value: Any) -> Any:
        return self._walk(value, None, UTF_16, self.encoding)

    def _walk(self, value: Any, path: Path | None, source: str, target: str) -> Any:
        if source == target:
            return value
        if isinstance(value, list):
            return [self._walk(item, path, source, target) for item in value]
        if not isinstance(value, dict):
            return value
        if value.keys() == {"line", "character"}:
            return self._position(value, path, source, target)
        path = _named(value) or path
        return {key: self._walk(item, path_of(key) or path, source, target) for key, item in value.items()}

    def _position(self, value: dict[str, Any], path: Path | None, source: str, target: str) -> dict[str, Any]:
        found = self._lines_of(path) if path else None
        line, character = value["line"], value["character"]
        if found is None or not isinstance(character, int) or not 0 <= line < len(found):
            return value
        return {"line": line, "character": moved(found[line], character, source, target)}


def _named(value: dict[str, Any]) -> Path | None:
    document = value.get("textDocument")
    inner = document.get("uri") if isinstance(document, dict) else None
    return path_of(value.get("uri") or value.get("targetUri") or inner)


def uri_of(path: Path) -> str:
    """Of an absolute path."""
    return path.as_uri()


def path_of(uri: Any) -> Path | None:
    """Without `..`, so that it shows where it lies; None for what is no file of this machine. Servers escape
    in different ways, so paths are compared, never URIs."""
    if not isinstance(uri, str):
        return None
    try:
        parts = urlsplit(uri)
        path = unquote(parts.path, errors="surrogateescape")
    except ValueError:
        return None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost") or "\0" in path:
        return None
    return Path(os.path.normpath(path)) if path.startswith("/") else None

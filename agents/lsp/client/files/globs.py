"""Patterns of file names as language servers register them (LSP 3.17, "GlobPattern")."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.lsp.client.wire.places import path_of

MAX_PATTERN = 1000
_TOKENS = re.compile(
    r"(?P<deep>(?:^|(?<=/))\*\*/)|(?P<rest>\*\*)|(?P<set>\[[!^]?[^\]/]+\])|(?P<one>.)", re.DOTALL
)
_SIMPLE = {"*": "[^/]*", "?": "[^/]", "{": "(?:", "}": ")", ",": "|"}


@dataclass(frozen=True, slots=True)
class Glob:
    """Of paths below `base`."""

    base: Path
    pattern: re.Pattern[str]

    def matches(self, path: Path) -> bool:
        if not path.is_relative_to(self.base):
            return False
        return self.pattern.fullmatch(path.relative_to(self.base).as_posix()) is not None


def parse(glob: Any, root: Path) -> Glob | None:
    """A pattern is relative to the project's folder, to a folder of its own, or absolute; None for what is
    no pattern."""
    base: Path | None = root
    if isinstance(glob, dict):
        place = glob.get("baseUri")
        base = path_of(place.get("uri") if isinstance(place, dict) else place)
        glob = glob.get("pattern")
    if base is None or not isinstance(glob, str) or len(glob) > MAX_PATTERN:
        return None
    if glob.startswith("/"):
        base, glob = Path("/"), glob[1:]
    try:
        return Glob(base, re.compile("".join(_translated(glob))))
    except re.error:
        return None


def _translated(glob: str) -> Iterator[str]:
    depth = 0
    for token in _TOKENS.finditer(glob):
        text = token[0]
        if token["deep"]:
            yield "(?:.*/)?"
        elif token["rest"]:
            yield ".*"
        elif token["set"]:
            inside = text[1:-1].replace("\\", "\\\\")
            yield f"[^{inside[1:]}]" if inside[0] in "!^" else f"[{inside}]"
        elif text in _SIMPLE and (text != "," or depth):
            depth += (text == "{") - (text == "}")
            yield _SIMPLE[text]
        else:
            yield re.escape(text)

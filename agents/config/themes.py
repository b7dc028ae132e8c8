"""OpenCode's theme files (`themes/*.json`, https://opencode.ai/docs/themes), as themes of the page."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.utils.translation import gettext

from agents.config import jsonc, loader
from sessions.core.confined import read_whole
from sessions.web.looks.colours import Colour, colour
from sessions.web.looks.themes import Palette, Scheme

MOST = 100
"""Files that are listed of a folder."""
_LARGEST = 256 * 1024
_DEEPEST = 8
"""Names that stand for names."""
_SCHEMES: tuple[Scheme, ...] = ("light", "dark")
_INKS = {
    "code-keyword": "syntaxKeyword",
    "code-string": "syntaxString",
    "code-number": "syntaxNumber",
    "code-name": "syntaxFunction",
    "code-type": "syntaxType",
    "code-comment": "syntaxComment",
    "good": "success",
    "bad": "error",
    "warn": "warning",
    "text": "text",
    "soft": "textMuted",
}
"""Our colours of what is read, by OpenCode's name; each is made so light or dark that it can be read."""


class NoTheme(ValueError):
    """A file that is no theme; the text says why, for people."""


@dataclass(frozen=True, slots=True)
class ThemeFile:
    """`name` is that of the file; `within` is the folder that it may not lead out of."""

    name: str
    path: Path
    within: Path


def files(directory: Path | None, environ: Mapping[str, str] = os.environ) -> list[ThemeFile]:
    """The person's own and those of a project, a nearer one in place of one of the same name. Blocks."""
    folders = [source.path for source in loader.sources(directory, environ) if source.markdown]
    found = {one.name: one for folder in folders for one in _in(folder)}
    return [found[name] for name in sorted(found)]


def _in(folder: Path) -> Iterator[ThemeFile]:
    try:
        names = sorted(os.listdir(folder / "themes"))[:MOST]
    except OSError:
        return
    for name in names:
        if name.endswith(".json"):
            yield ThemeFile(name.removesuffix(".json"), folder / "themes" / name, folder)


def tokens(file: ThemeFile, scheme: str) -> dict[str, str]:
    """Every colour of the page in this theme. Blocks. Raises NoTheme."""
    try:
        text = read_whole(file.path, file.within, _LARGEST).decode("utf-8")
        values = jsonc.Document(text).value
    except (OSError, UnicodeDecodeError, jsonc.JsoncError, RecursionError) as error:
        raise NoTheme(
            gettext("%(file)s cannot be read: %(error)s") % {"file": file.name, "error": error}
        ) from error
    if not isinstance(values, dict) or not isinstance(values.get("theme"), dict):
        raise NoTheme(gettext("%(file)s has no theme in it.") % {"file": file.name})
    named = _Named(values, scheme)
    ground, accent = named.colour("background", "backgroundPanel"), named.colour("primary", "accent")
    if ground is None or accent is None:
        raise NoTheme(
            gettext("%(file)s says no background, or no primary colour, for a %(scheme)s page.")
            % {"file": file.name, "scheme": scheme}
        )
    palette = Palette(ground, accent.hue)
    if palette.scheme != scheme:
        raise NoTheme(
            gettext("%(file)s has no %(scheme)s background.") % {"file": file.name, "scheme": scheme}
        )
    made = palette.tokens()
    inks = {name: named.colour(theirs) for name, theirs in _INKS.items()}
    read = {f"--{name}": palette.readable(ink, made) for name, ink in inks.items() if ink is not None}
    return {**made, **read, "--accent": palette.readable(accent, made)}


def schemes(file: ThemeFile) -> list[Scheme]:
    """For which it says something. Blocks."""
    found: list[Scheme] = []
    for scheme in _SCHEMES:
        try:
            tokens(file, scheme)
        except NoTheme:
            continue
        found.append(scheme)
    return found


class _Named:
    """The colours of a theme for one scheme; names may stand for others, of `defs` or of the theme."""

    def __init__(self, values: Mapping[str, Any], scheme: str) -> None:
        defs = values.get("defs")
        self._known = {**values["theme"], **(defs if isinstance(defs, dict) else {})}
        self._theme: Mapping[str, Any] = values["theme"]
        self._scheme = scheme

    def colour(self, *names: str) -> Colour | None:
        """The first of these that there is."""
        return next((found for name in names if (found := self._of(self._theme.get(name)))), None)

    def _of(self, value: Any, depth: int = 0) -> Colour | None:
        if isinstance(value, dict):
            value = value.get(self._scheme)
        if not isinstance(value, str) or depth > _DEEPEST:
            return None
        return colour(value) if value.startswith("#") else self._of(self._known.get(value), depth + 1)

"""The themes: each is a few numbers, of which every colour of the page is made so that it can be read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from django.contrib.staticfiles import finders
from django.utils.translation.trans_null import gettext_noop

from sessions.web.looks.colours import Colour, contrast, legible

Scheme = Literal["light", "dark"]
READ = 4.6
"""Contrast of text: a little more than WCAG AA asks for (4.5)."""
READ_WELL = 7.1
"""As AAA asks for."""
SEEN = 3.1
"""Of what is no text."""


@dataclass(frozen=True, slots=True)
class Theme:
    """`hue` and `chroma` are those of the greys, `accent` is a hue. `ground` is the lightness of the page,
    and `contrast` what text has at least."""

    name: str
    title: str
    scheme: Scheme
    hue: float
    chroma: float
    accent: float
    ground: float
    contrast: float = READ


THEMES = (
    Theme("sand", gettext_noop("Sand"), "light", 80, 0.012, 35, 0.965),
    Theme("mist", gettext_noop("Mist"), "light", 240, 0.008, 235, 0.975),
    Theme("meadow", gettext_noop("Meadow"), "light", 140, 0.01, 150, 0.975),
    Theme("contrast-light", gettext_noop("High contrast, light"), "light", 0, 0.0, 265, 1.0, READ_WELL),
    Theme("slate", gettext_noop("Slate"), "dark", 250, 0.018, 230, 0.23),
    Theme("forest", gettext_noop("Forest"), "dark", 160, 0.014, 150, 0.2),
    Theme("ember", gettext_noop("Ember"), "dark", 45, 0.012, 55, 0.2),
    Theme("plum", gettext_noop("Plum"), "dark", 320, 0.02, 330, 0.21),
    Theme("night", gettext_noop("Night"), "dark", 270, 0.0, 285, 0.0),
    Theme("contrast-dark", gettext_noop("High contrast, dark"), "dark", 0, 0.0, 90, 0.0, READ_WELL),
)

_MARKS = {"good": 155.0, "bad": 25.0, "warn": 75.0, "plan": 305.0, "staged": 195.0}
_CODE = {"keyword": 345.0, "string": 155.0, "number": 60.0, "name": 262.0, "type": 210.0}
_KINDS = {"system": 270.0, "instructions": 80.0, "tools": 155.0, "outputs": 215.0}
_PROGRAMS = (25.0, 155.0, 80.0, 262.0, 345.0, 210.0)
"""Hues of a terminal's colours (ECMA-48 §8.3.117): red, green, yellow, blue, magenta, cyan."""
_CHROMA = 0.13
_BEHIND = frozenset(
    f"--{name}"
    for name in (
        *("bg", "panel", "raised", "hover", "bubble", "add", "del", "add-mark", "del-mark", "found"),
        *("accent-soft", "bad-soft", "warn-soft", "plan-soft", "staged-soft"),
    )
)
_SHADOW = {
    "light": "0 1px 2px rgb(20 20 30 / 5%), 0 8px 24px rgb(20 20 30 / 7%)",
    "dark": "0 1px 2px rgb(0 0 0 / 30%), 0 8px 28px rgb(0 0 0 / 40%)",
}


@cache
def tokens(name: str) -> Mapping[str, str]:
    """Every colour of the page by its custom property; of `light` and `dark` as the style sheets have them.
    Takes a moment. Raises KeyError for a theme that there is not."""
    if name in ("light", "dark"):
        return usual(name)
    theme = next((theme for theme in THEMES if theme.name == name), None)
    if theme is None:
        raise KeyError(name)
    return Palette(Colour(theme.ground, theme.chroma, theme.hue), theme.accent, theme.contrast).tokens()


_SHEETS = ("tokens", "diff", "terminal", "plan", "staging", "window")
_DARK = re.compile(r"@media \(prefers-color-scheme: dark\) \{\s*:root \{([^}]*)\}")
_ROOT = re.compile(r"(?m)^:root \{([^}]*)\}")
_PROPERTY = re.compile(r"(--[\w-]+):\s*([^;]+);")


def usual(scheme: str) -> dict[str, str]:
    """What the style sheets say for a scheme, of all that they say something else of for the other."""
    sheets = [finders.find(f"css/{name}.css") for name in _SHEETS]
    texts = [Path(str(sheet)).read_text() for sheet in sheets]
    dark = {
        name: value
        for text in texts
        for block in _DARK.findall(text)
        for name, value in _PROPERTY.findall(block)
    }
    light = {
        name: value
        for text in texts
        for block in _ROOT.findall(text)
        for name, value in _PROPERTY.findall(block)
    }
    return dark if scheme == "dark" else {name: light[name] for name in dark}


class Palette:
    """The colours that go with that of the page, and with the hue of what can be pressed. Text has a contrast
    of `ratio` at least on all that it stands on."""

    def __init__(self, ground: Colour, accent: float, ratio: float = READ) -> None:
        self.scheme: Scheme = "dark" if ground.lightness < 0.6 else "light"
        self._ground = ground
        self._away = 1 if self.scheme == "dark" else -1
        self._accent = accent
        self._ratio = ratio
        raised = 0.045 if self.scheme == "dark" else 0.03
        self._grounds = {
            "bg": ground.hex,
            "panel": self._grey(0.02),
            "raised": self._grey(raised * self._away),
            "hover": self._grey(0.075),
            "bubble": self._grey(0.065),
        }
        self._diff = {"add": self._tint(155), "del": self._tint(25)}
        self._soft = {name: self._tint(hue) for name, hue in _MARKS.items()} | {"accent": self._tint(accent)}

    def tokens(self) -> dict[str, str]:
        marked = {f"{name}-mark": self._tint(hue, 2.2) for name, hue in (("add", 155.0), ("del", 25.0))}
        found, accent = self._tint(95, 2.4), self._ink(self._accent, 0.17, self._soft["accent"])
        black = contrast("#000000", accent) > contrast("#ffffff", accent)
        behind = (*self._soft.values(), *self._diff.values(), *marked.values(), found)
        named = {
            **self._grounds,
            "none": self._grey(0.012),
            "line": self._grey(0.11 if self._ratio < READ_WELL else 0.3),
            "line-strong": self._grey(0.19 if self._ratio < READ_WELL else 0.5),
            "text": self._words(0.93, 0.22, *behind),
            "soft": self._words(0.74, 0.47, *self._diff.values()),
            "accent": accent,
            "accent-text": "#000000" if black else "#ffffff",
            **{f"{name}-soft": tint for name, tint in self._soft.items() if name != "good"},
            **{name: self._ink(hue, _CHROMA, self._soft[name]) for name, hue in _MARKS.items()},
            **self._diff,
            **marked,
            "found": found,
            "shadow": _SHADOW[self.scheme],
            **{f"code-{name}": self._ink(hue, _CHROMA, *behind) for name, hue in _CODE.items()},
            "code-comment": self._words(0.68, 0.5, *behind),
            **{f"kind-{name}": self._ink(hue, _CHROMA, ratio=SEEN) for name, hue in _KINDS.items()},
            **self._terminal(),
        }
        return {f"--{name}": value for name, value in named.items()}

    def readable(self, wanted: Colour, made: Mapping[str, str]) -> str:
        """A colour as it can be read on all that text of these tokens stands on."""
        behind = [value for name, value in made.items() if name in _BEHIND]
        return legible(wanted, behind, self._ratio).hex

    def _terminal(self) -> dict[str, str]:
        """The eight colours, and once more, bright."""
        usual = [self._ink(hue, _CHROMA) for hue in _PROGRAMS]
        bright = [self._ink(hue, _CHROMA, ratio=self._ratio + 1.5) for hue in _PROGRAMS]
        greys = self._grey(0.22), self._words(0.8, 0.5), self._words(0.65, 0.47), self._words(1.0, 0.2)
        every = [greys[0], *usual, greys[1], greys[2], *bright, greys[3]]
        return {f"term-{number}": value for number, value in enumerate(every)}

    def _grey(self, distance: float) -> str:
        """So far from the page, towards its text; near black steps are hard to see."""
        lightness = self._ground.lightness
        if self.scheme == "dark" and distance > 0:
            lightness = max(lightness, 0.13)
        lightness += distance * self._away
        return self._ground._replace(lightness=min(max(lightness, 0), 1)).hex

    def _tint(self, hue: float, strength: float = 1.0) -> str:
        """What stands behind text and says something."""
        lightness = self._ground.lightness + self._away * 0.05 * strength
        if self.scheme == "dark":
            lightness = max(lightness, 0.2 + 0.06 * (strength - 1))
        return Colour(min(lightness, 0.97), 0.03 * strength, hue).hex

    def _ink(self, hue: float, chroma: float, *behind: str, ratio: float = 0) -> str:
        """What is read."""
        begin = Colour(0.8 if self.scheme == "dark" else 0.48, chroma, hue)
        return legible(begin, (*self._grounds.values(), *behind), ratio or self._ratio).hex

    def _words(self, dark: float, light: float, *behind: str) -> str:
        """Nearly grey, of one lightness on a dark page and of another on a light one."""
        begin = Colour(
            dark if self.scheme == "dark" else light, min(self._ground.chroma, 0.02), self._ground.hue
        )
        return legible(begin, (*self._grounds.values(), *behind), self._ratio).hex

"""Colours by lightness, chroma and hue as people see them (OKLCH, CSS Color 4 §9.4), and whether text can be
read on them (WCAG 2.2 §1.4.3)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import NamedTuple

_HEX = re.compile(r"#?([0-9a-fA-F]{6}|[0-9a-fA-F]{3})")
_STEP = 0.005


class Colour(NamedTuple):
    """`lightness` from 0 to 1, `chroma` from 0 to some 0.3, `hue` in degrees."""

    lightness: float
    chroma: float
    hue: float

    @property
    def hex(self) -> str:
        """As `#rrggbb`; what sRGB has not, with as much chroma as it has."""
        chroma = self.chroma
        while chroma > 0 and not all(
            -0.0005 <= each <= 1.0005 for each in _linear(self._replace(chroma=chroma))
        ):
            chroma = max(chroma - 0.002, 0)
        parts = (_encoded(min(max(each, 0), 1)) for each in _linear(self._replace(chroma=chroma)))
        return "#" + "".join(f"{round(part * 255):02x}" for part in parts)


def colour(text: str) -> Colour | None:
    """Of `#rrggbb` or `#rgb`; None for what is neither."""
    found = _HEX.fullmatch(text.strip())
    if found is None:
        return None
    digits = found[1] if len(found[1]) == 6 else "".join(digit * 2 for digit in found[1])
    red, green, blue = (_decoded(int(digits[at : at + 2], 16) / 255) for at in (0, 2, 4))
    long = math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue)
    medium = math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue)
    short = math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue)
    lightness = 0.2104542553 * long + 0.7936177850 * medium - 0.0040720468 * short
    a = 1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short
    b = 0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short
    return Colour(lightness, math.hypot(a, b), math.degrees(math.atan2(b, a)) % 360)


def contrast(one: str, other: str) -> float:
    """Of two `#rrggbb`, from 1 to 21."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def legible(wanted: Colour, grounds: Iterable[str], ratio: float) -> Colour:
    """The colour, as much darker or lighter as it takes to be read on all of these."""
    behind = list(grounds)
    bright = sum(map(_luminance, behind)) / len(behind) > 0.18
    step, end = (-_STEP, 0.0) if bright else (_STEP, 1.0)
    found = wanted
    while found.lightness != end and min(contrast(found.hex, ground) for ground in behind) < ratio:
        found = found._replace(lightness=min(max(found.lightness + step, 0), 1))
    return found


def _linear(value: Colour) -> tuple[float, float, float]:
    """Red, green, blue, as light."""
    angle = math.radians(value.hue)
    a, b = value.chroma * math.cos(angle), value.chroma * math.sin(angle)
    long = (value.lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (value.lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (value.lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )


def _encoded(light: float) -> float:
    return 12.92 * light if light <= 0.0031308 else 1.055 * light ** (1 / 2.4) - 0.055


def _decoded(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def _luminance(text: str) -> float:
    red, green, blue = (_decoded(int(text[at : at + 2], 16) / 255) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue

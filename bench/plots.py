"""Plots of lines over two logarithmic axes, as SVG that is read in light and in the dark."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

Line = Sequence[tuple[float, float]]

_WIDTH, _HEIGHT = 720, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 210, 40, 46
_APART = 15
"""Pixels from a name of a line to the next."""
_STYLE = """
text { font: 13px system-ui, sans-serif; fill: #24292f }
.title { font-weight: 600; font-size: 14px }
.grid { stroke: #8c959f; stroke-opacity: .3 }
.full { stroke: #cf222e; stroke-dasharray: 5 4 }
.line { fill: none; stroke-width: 2 }
.c0 { stroke: #0969da } .c1 { stroke: #bc4c00 } .c2 { stroke: #1a7f37 } .c3 { stroke: #8250df }
.c4 { stroke: #bf3989 } .c5 { stroke: #6e5800 } .c6 { stroke: #57606a }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.full { stroke: #ff7b72 }
.c0 { stroke: #58a6ff } .c1 { stroke: #ffa657 } .c2 { stroke: #56d364 } .c3 { stroke: #bc8cff }
.c4 { stroke: #ff7bd0 } .c5 { stroke: #d9c25f } .c6 { stroke: #b1bac4 }
}
"""


def draw(
    path: Path,
    title: str,
    lines: Mapping[str, Line],
    *,
    across: str,
    low: float,
    high: float,
    full: float = 0.0,
) -> None:
    """Write a plot to a file. `across` is what the axis below counts, `low` and `high` are the ends of the
    other; what is below the lowest is drawn there. `full` is a height that is marked."""
    xs = [x for line in lines.values() for x, _ in line]
    plot = _Plot(min(xs), max(xs), low, high)
    parts = [*plot.grid(), *plot.mark(full)]
    ends = {name: plot.y(line[-1][1]) for name, line in lines.items()}
    names = _apart(ends)
    for number, (name, line) in enumerate(lines.items()):
        parts += plot.line(number, line)
        parts += plot.name(number, name, ends[name], names[name])
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style>"
        f'<text class="title" x="{_LEFT}" y="20">{escape(title)}</text>'
        f'<text x="{middle}" y="{_HEIGHT - 8}" text-anchor="middle">{escape(across)}</text>'
    )
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join([head, *parts, "</svg>\n"]))


class _Plot:
    def __init__(self, left: float, right: float, low: float, high: float) -> None:
        self._x = math.log10(left), math.log10(right)
        self._y = math.log10(low), math.log10(high)
        self._low = low

    def x(self, value: float) -> float:
        begin, end = self._x
        return _LEFT + (math.log10(value) - begin) / (end - begin) * (_WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        begin, end = self._y
        share = (math.log10(max(value, self._low)) - begin) / (end - begin)
        return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM)

    def grid(self) -> list[str]:
        parts = []
        for power in range(math.ceil(self._x[0]), math.floor(self._x[1]) + 1):
            x = self.x(10**power)
            parts.append(f'<path class="grid" d="M{x:.1f} {_TOP}V{_HEIGHT - _BOTTOM}"/>')
            parts.append(
                f'<text x="{x:.1f}" y="{_HEIGHT - _BOTTOM + 17}" text-anchor="middle">{10**power:,}</text>'
            )
        for power in range(math.ceil(self._y[0]), math.floor(self._y[1]) + 1):
            y, text = self.y(10**power), f"{10**power:,}" if power >= 0 else f"{10**power:g}"
            parts.append(f'<path class="grid" d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}"/>')
            parts.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{text}</text>')
        return parts

    def mark(self, full: float) -> list[str]:
        if not full:
            return []
        return [f'<path class="full" d="M{_LEFT} {self.y(full):.1f}H{_WIDTH - _RIGHT}"/>']

    def line(self, number: int, line: Line) -> list[str]:
        points = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in line)
        return [f'<polyline class="line c{number}" points="{points}"/>']

    def name(self, number: int, name: str, end: float, y: float) -> list[str]:
        """With a stroke that leads to it."""
        x = _WIDTH - _RIGHT
        return [
            f'<path class="c{number}" fill="none" d="M{x} {end:.1f}L{x + 14} {y:.1f}"/>',
            f'<text x="{x + 18}" y="{y + 4:.1f}">{escape(name)}</text>',
        ]


def _apart(ends: Mapping[str, float]) -> dict[str, float]:
    """Where the names of lines stand, in their order and not over one another."""
    placed: dict[str, float] = {}
    lowest = float(_TOP)
    for name, y in sorted(ends.items(), key=lambda item: item[1]):
        placed[name] = max(y, lowest)
        lowest = placed[name] + _APART
    over = max(0.0, lowest - _APART - (_HEIGHT - _BOTTOM))
    return {name: y - over for name, y in placed.items()}

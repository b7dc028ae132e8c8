"""Rows of the graph of commits as drawings (SVG)."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.safestring import SafeString, mark_safe

from sessions.changes.git.graph import Row

_STEP = 12
"""Pixels from a lane to the next."""
_MIDDLE = 16
"""Where in its row a commit stands."""
_HALF = _MIDDLE // 2
_LONG = 4000
"""Down to the end of a row of any height, where it is cut."""
_COLOURS = 6
MOST = 12
"""Lanes that are drawn."""


def drawn(row: Row) -> SafeString:
    """Numbers alone: nothing of it comes of the repository."""
    width = (min(row.width, MOST) + 1) * _STEP
    inner = "".join(_lines(row))
    return mark_safe(  # noqa: S308
        f'<svg class="git-graph" width="{width}" height="100%" aria-hidden="true">{inner}'
        f'<circle class="lane-{row.lane % _COLOURS}" cx="{_x(row.lane)}" cy="{_MIDDLE}" r="4"></circle></svg>'
    )


def _lines(row: Row) -> Iterator[str]:
    for start, end in row.above:
        a, b = _x(start), _x(end)
        turn = f"C{a} {_HALF} {b} {_HALF} {b} {_MIDDLE}"
        yield _path(f"M{a} 0{f'V{_MIDDLE}' if a == b else turn}", max(start, end))
    for lane in row.below:
        yield _path(f"M{_x(lane)} {_MIDDLE}V{_LONG}", lane)


def _path(way: str, lane: int) -> str:
    return f'<path class="lane-{lane % _COLOURS}" d="{way}"></path>'


def _x(lane: int) -> int:
    return min(lane, MOST) * _STEP + _STEP // 2

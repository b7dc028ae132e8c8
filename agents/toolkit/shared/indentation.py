"""New text indented as the file it goes into: tabs where the file has tabs, blanks where it has blanks.

A file that has both is left alone: there it cannot be told what was meant.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import gcd
from typing import Literal

Style = Literal["tabs", "blanks", ""]

_MARGIN = re.compile(r"[ \t]*")
_USUAL = 4
_FEWEST = 2
"""Lines indented by blanks that make it a file of blanks."""


def style(lines: Iterable[str]) -> Style:
    """What all the indented lines of a file begin with; empty for both or none."""
    margins = [margin for line in lines if line.strip() and (margin := _margin(line))]
    tabs = sum(margin[0] == "\t" for margin in margins)
    blanks = sum(margin[0] == " " and len(margin) > 1 for margin in margins)
    if tabs and not blanks:
        return "tabs"
    return "blanks" if blanks >= _FEWEST and not tabs else ""


def fitted(new: Sequence[str], lines: Sequence[str], pairs: Iterable[tuple[str, str]] = ()) -> list[str]:
    """The new lines as `lines`, those of the file, are indented. `pairs` are lines as they were asked for
    and as the file has them: they tell how wide a tab was meant to be."""
    match style(lines):
        case "tabs":
            aligned = any(re.match(r"\t+ {2,}\S", line) for line in lines)
            wanted = re.compile(r" {2,}" if aligned else r"\t* {2,}")
            width = _asked(pairs) or _guessed([line for line in new if wanted.match(line)])
            return [_tabbed(line, width) if wanted.match(line) else line for line in new]
        case "blanks":
            unit = _asked((there, asked) for asked, there in pairs) or _step(lines)
            return [_margin(line).replace("\t", " " * unit) + line.lstrip(" \t") for line in new]
        case _:
            return list(new)


def _margin(line: str) -> str:
    found = _MARGIN.match(line)
    return found[0] if found else ""


def _tabbed(line: str, width: int) -> str:
    margin = _margin(line)
    tabs, blanks = margin.count("\t"), margin.count(" ")
    return "\t" * (tabs + blanks // width) + " " * (blanks % width) + line.lstrip(" \t")


def _asked(pairs: Iterable[tuple[str, str]]) -> int:
    """How many blanks stand for a tab where the first of a pair has blanks and the second tabs, or 0."""
    for first, second in pairs:
        blanks, tabs = _margin(first), _margin(second)
        if first.strip() == second.strip() and blanks.strip(" ") == tabs.strip("\t") == "" and tabs:
            width, rest = divmod(len(blanks), len(tabs))
            if width and not rest:
                return width
    return 0


def _guessed(new: Sequence[str]) -> int:
    common = gcd(*(_margin(line).count(" ") for line in new if line.strip()))
    return common if common in (2, 3) else _USUAL


def _step(lines: Iterable[str]) -> int:
    """By how much the lines of a file are mostly moved in."""
    margins = [len(_margin(line)) for line in lines if line.strip()]
    steps = Counter(step for before, after in pairwise(margins) if (step := after - before) > 1)
    return steps.most_common(1)[0][0] if steps else _USUAL

"""How patterns of permission rules match, as in OpenCode's configuration. Pure."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

EVERYTHING: Final = "*"

READ_DEFAULTS: Final[Mapping[str, str]] = {
    "*": "allow",
    "*.env": "ask",
    "*.env.*": "ask",
    "*.env.example": "allow",
}
"""What `read` allows and asks about before anybody has set rules."""


def matches(pattern: str, text: str) -> bool:
    """Whole-text match: `*` is any run of characters, `?` is one; a final ` *` may also be nothing."""
    return _compiled(pattern).match(text) is not None


def is_everything(pattern: str) -> bool:
    """Whether it is of wildcards alone and one of them may be any run: `*`, and the ways around it (`?*`)."""
    return "*" in pattern and pattern.strip("*? ") == ""


def overlap(shape: str, pattern: str) -> bool:
    """Whether some text fits both; of `pattern` a final ` *` may also be nothing."""
    also = (pattern[:-2],) if pattern.endswith(" *") else ()
    return any(_fit(shape, one) for one in (pattern, *also))


def _fit(first: str, second: str) -> bool:
    """By going through `first` with all the places of `second` that can be reached so far."""
    reached = _skipped({0}, second)
    for letter in first:
        following: set[int] = set()
        for at in reached:
            here = second[at : at + 1]
            if letter == "*":
                following.update(range(at, len(second) + 1))
            elif here == "*":
                following.add(at)
            elif here and (here == letter or "?" in (here, letter)):
                following.add(at + 1)
        reached = _skipped(following, second)
        if not reached:
            return False
    return len(second) in reached


def _skipped(places: set[int], pattern: str) -> set[int]:
    found = set(places)
    for at in places:
        while pattern[at : at + 1] == "*":
            at += 1
            found.add(at)
    return found


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    # fnmatch writes each `*` as an atomic step, so there is no backtracking to blow up.
    expression = _expression(pattern)
    if pattern.endswith(" *"):
        expression = f"{_expression(pattern[:-2])}|{expression}"
    return re.compile(expression)


def _expression(pattern: str) -> str:
    return fnmatch.translate(pattern.replace("[", "[[]"))  # its character classes are not ours

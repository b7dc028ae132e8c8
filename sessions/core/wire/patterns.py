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


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    # fnmatch writes each `*` as an atomic step, so there is no backtracking to blow up.
    expression = _expression(pattern)
    if pattern.endswith(" *"):
        expression = f"{_expression(pattern[:-2])}|{expression}"
    return re.compile(expression)


def _expression(pattern: str) -> str:
    return fnmatch.translate(pattern.replace("[", "[[]"))  # its character classes are not ours

"""File names as they are written into an output."""

from __future__ import annotations

import re

# Control characters, line separators, bidirectional overrides and bytes that are not UTF-8.
UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(name: str) -> str:
    """A file name on one line: what would break an output is written as an escape."""
    return UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode(), name)

"""What a browser is called, by its User-Agent."""

from __future__ import annotations

import re

_BROWSER = re.compile(r"\b(Firefox|Edge?|OPR|Chrome|Safari)\b(?!.*\b(?:Edge?|OPR|Chrome)/)")
_SYSTEM = re.compile(r"\b(Android|iPhone|iPad|Windows|Mac OS X|Linux(?!; Android))\b")


def named(agent: str) -> str:
    """With the system that it runs on: `Firefox on Linux`."""
    found = (_BROWSER.search(agent), _SYSTEM.search(agent))
    return " on ".join(match[1] for match in found if match) or "A browser"

"""The names under which the tools and prompts of servers are known here. Pure.

Providers take names of up to 64 letters, digits, `_` and `-`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container, Iterable

LONGEST = 64
_MARK = 6
_FORBIDDEN = re.compile(r"[^a-zA-Z0-9_-]")

Pair = tuple[str, str]
"""The name of a server as configured, and that of a thing it offers, as the server writes it."""


def sanitised(name: str) -> str:
    """With `_` in place of every character that providers do not take."""
    return _FORBIDDEN.sub("_", name)


def tool_names(pairs: Iterable[Pair], taken: Container[str] = ()) -> dict[Pair, str]:
    """`{server}_{tool}` for each. A name that is `taken`, too long, or that another pair before it (in the
    order of their names) has already, ends in a mark made of the pair: the same in every run."""
    return _named(pairs, "_", taken, LONGEST)


def prompt_names(pairs: Iterable[Pair]) -> dict[Pair, str]:
    """`{server}:{prompt}` for each, as for tools."""
    return _named(pairs, ":", (), 2 * LONGEST)


def is_plain(pair: Pair, name: str) -> bool:
    """Whether a tool has the name that it would have alone."""
    return name == _plain(pair, "_")


def _named(pairs: Iterable[Pair], between: str, taken: Container[str], longest: int) -> dict[Pair, str]:
    names: dict[Pair, str] = {}
    used: set[str] = set()
    for pair in sorted(set(pairs)):
        name = _plain(pair, between)
        if name in taken or name in used or len(name) > longest:
            digest = hashlib.sha256("\0".join(pair).encode("utf-8", "surrogatepass")).hexdigest()
            name = f"{name[: longest - _MARK - 1]}_{digest[:_MARK]}"
        used.add(name)
        names[pair] = name
    return names


def _plain(pair: Pair, between: str) -> str:
    server, thing = pair
    return f"{sanitised(server)}{between}{sanitised(thing)}"

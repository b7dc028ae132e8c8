"""Texts for a model that name only tools which it is offered. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection

from agents.toolkit.names import NAMES

_BEGINNING = re.compile(r"\s*(?:(?:[-*]|\d+\.)\s+)?")
_BETWEEN = re.compile(r"(?<=[.!?])\s+")
_NAMED = re.compile(r"`(\w+)`")


def fitting(text: str, offered: Collection[str]) -> str:
    """The text without the sentences that name a tool of the program, between backticks, which is not
    offered; a line of which nothing is left goes too."""
    absent = NAMES - set(offered)
    if absent.isdisjoint(_NAMED.findall(text)):
        return text
    lines = ((line, _line(line, absent)) for line in text.split("\n"))
    return "\n".join(made for line, made in lines if made.strip() or not line.strip())


def _line(line: str, absent: Collection[str]) -> str:
    if not any(name in absent for name in _NAMED.findall(line)):
        return line
    beginning = _BEGINNING.match(line)
    head = beginning[0] if beginning else ""
    sentences = _BETWEEN.split(line[len(head) :])
    left = [one for one in sentences if not any(name in absent for name in _NAMED.findall(one))]
    return head + " ".join(left) if left else ""

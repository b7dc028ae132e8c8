"""What was found, for people."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from sessions.rendering.text import visible

from .plan import Surveyed

SHOWN = 12
"""Projects named one by one; the rest is counted."""


def describe(one: Surveyed) -> Iterator[str]:
    """A source in a few lines of text."""
    yield f"{visible(str(one.source.path))} ({one.source.kind})"
    if one.error:
        yield f"  cannot be read: {visible(one.error)}"
        return
    yield f"  {counts(one)}"
    for folder, count in one.projects()[:SHOWN]:
        yield f"  {count:>6,}  {visible(folder) or 'no folder'}"
    if len(one.projects()) > SHOWN:
        yield f"          and {len(one.projects()) - SHOWN:,} more"


def counts(one: Surveyed) -> str:
    found = one.found
    parts = [
        _many(found.projects, "project"),
        _many(found.sessions, "session"),
        _many(found.messages, "message"),
        size(found.size),
    ]
    if found.first:
        days = dict.fromkeys((_day(found.first), _day(found.last)))
        parts.append(" to ".join(days))
    return ", ".join(parts)


def size(count: int) -> str:
    amount, unit = float(count), "bytes"
    for unit in ("bytes", "kB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            break
        amount /= 1000
    return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _day(milliseconds: int) -> str:
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).date().isoformat()
    except (OverflowError, ValueError, OSError):
        return "an unknown day"

"""The limits in force: the person's, or what holds by itself, lowered by what a repository says."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.utils.translation import gettext, ngettext

from agents.config.schema import Config
from sessions.core.sentences import grouped
from sessions.core.wire.patterns import EVERYTHING, is_everything

MEGABYTE = 1024 * 1024
SHARE = 0.75
"""Of the machine's memory that one command may hold."""
_OF_A_CONTAINER = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


@dataclass(frozen=True, slots=True)
class Limits:
    """None is none. `calls` has how many calls of the tools that a pattern matches one turn may make."""

    subagents: int | None
    calls: Mapping[str, int]
    answer_tokens: int | None
    session_tokens: int | None
    session_cost: float | None
    """US dollars."""
    command_memory: int | None
    """Megabytes."""
    command_seconds: int | None
    command_cpu_seconds: int | None


def defaults() -> Limits:
    """What holds where nobody says anything (docs/decisions/0043-limits.md)."""
    return Limits(
        subagents=16,
        calls={EVERYTHING: 500},
        answer_tokens=None,
        session_tokens=None,
        session_cost=100.0,
        command_memory=_most_of_the_memory(),
        command_seconds=600,
        command_cpu_seconds=None,
    )


def limits_of(config: Config) -> Limits:
    """Those in force in a configuration."""
    own, ceiling, by_default = config.limits, config.ceilings, defaults()

    def one(name: str) -> Any:
        return _lower(_chosen(getattr(own, name), getattr(by_default, name)), getattr(ceiling, name))

    patterns = {**by_default.calls, **own.calls, **ceiling.calls}
    calls = {
        pattern: _lower(
            _chosen(own.calls.get(pattern), by_default.calls.get(pattern)), ceiling.calls.get(pattern)
        )
        for pattern in patterns
    }
    return Limits(
        subagents=one("subagents"),
        calls={pattern: most for pattern, most in calls.items() if most},
        answer_tokens=one("answer_tokens"),
        session_tokens=one("session_tokens"),
        session_cost=one("session_cost"),
        command_memory=one("command_memory"),
        command_seconds=one("command_seconds"),
        command_cpu_seconds=one("command_cpu_seconds"),
    )


def of_calls(pattern: str, most: int) -> str:
    """A limit of calls, in words."""
    if is_everything(pattern):
        words = ngettext(
            "%(count)s call of all tools together in one turn",
            "%(count)s calls of all tools together in one turn",
            most,
        )
    else:
        words = ngettext(
            "%(count)s call of %(tools)s in one turn", "%(count)s calls of %(tools)s in one turn", most
        )
    return words % {"count": grouped(most), "tools": pattern}


def in_words(limits: Limits) -> list[str]:
    """For people: one text for each that there is."""
    calls = [of_calls(pattern, most) for pattern, most in limits.calls.items()]
    cost = f"{limits.session_cost:.2f}" if limits.session_cost else None
    others = (
        (limits.answer_tokens, gettext("%(most)s output tokens in one answer")),
        (limits.session_tokens, gettext("%(most)s output tokens in one conversation")),
        (cost, gettext("$%(most)s in one conversation")),
        (limits.command_memory, gettext("%(most)s MB of memory for one command")),
        (limits.command_seconds, gettext("%(most)s seconds for one command")),
        (limits.command_cpu_seconds, gettext("%(most)s seconds of processor time for one command")),
    )
    subagents = (limits.subagents, gettext("%(most)s subagents at work at once"))
    return [*_said(subagents), *calls, *_said(*others)]


def _said(*limits: tuple[int | str | None, str]) -> Iterator[str]:
    """Of those that there are."""
    return (words % {"most": grouped(most)} for most, words in limits if most)


def is_looser(name: str, pattern: str, value: Any) -> bool:
    """Whether a value of `limits` (for `calls`: of a pattern) lifts what holds by itself."""
    by_default = defaults()
    most = by_default.calls.get(pattern) if name == "calls" else getattr(by_default, name, None)
    if most is None:
        return False
    return value is False or (isinstance(value, int | float) and value > most)


def _chosen(value: Any, by_default: Any) -> Any:
    """False is one: no limit."""
    return by_default if value is None else value or None


def _lower(most: Any, ceiling: Any) -> Any:
    """`ceiling` is none where it is None or False."""
    return min(most, ceiling) if most and ceiling else most or ceiling or None


@cache
def _most_of_the_memory() -> int | None:
    """Of the machine's, or of the container's."""
    sizes: list[int] = []
    with suppress(OSError, ValueError):
        sizes.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for place in _OF_A_CONTAINER:
        with suppress(OSError, ValueError):
            sizes.append(int(Path(place).read_text()))
    return int(min(sizes) * SHARE) // MEGABYTE or None if sizes else None

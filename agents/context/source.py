"""Context Sources and the System Context composed of them (seed 002, Language and Relationships).

A source observes one typed value; its renderers are pure. Nothing here reads files or rows.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

Value = TypeVar("Value")


class _Unavailable:
    """The type of UNAVAILABLE."""


UNAVAILABLE: Final = _Unavailable()
"""A loader's answer when the value cannot be observed now; what was admitted before stays in force."""


@dataclass(frozen=True, slots=True)
class Source(Generic[Value]):
    """One independently observed value of the System Context.

    `key` is stable and namespaced (`core/date`). `load` gives the value, None for a loaded absence, or
    UNAVAILABLE. `encode` makes it JSON to compare and to keep. `baseline` and `update` render the value for
    the model; `removal` renders what it is told when the source or its value has gone (None: nothing).
    """

    key: str
    load: Callable[[], Awaitable[Value | _Unavailable | None]]
    encode: Callable[[Value], Any]
    baseline: Callable[[Value], str]
    update: Callable[[Value], str]
    removal: Callable[[Value], str] | None = None

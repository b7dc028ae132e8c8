"""A Context Source: one independently observed value of the System Context.

Its renderers are pure; only its loader, and what it observes once, touch the world.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Unavailable:
    """A loader's answer when the value cannot be observed now; what was admitted before stays in force.

    `reason` is for people, who may have to wait for it.
    """

    reason: str = ""


UNAVAILABLE: Final = Unavailable()


@dataclass(frozen=True, slots=True)
class Source(Generic[Value]):
    """`key` is stable and namespaced (`core/date`). `load` gives the value, None for a loaded absence, or
    Unavailable; it does not raise. `encode` makes the value JSON, to compare and to keep. `baseline` and
    `update` render it for the model. Without `baseline` it stands in no baseline and is told by `update`
    alone: what may end before its epoch must not rank higher than the words that end it.

    `removal` renders, when a value is admitted, what the model will be told once it has gone; that text is
    kept, as the source may then be gone too. Without it a value that goes begins a new Context Epoch.

    `once` observes what is told beside a baseline and never compared, so its changes make no update.
    """

    key: str
    load: Callable[[], Awaitable[Value | Unavailable | None]]
    encode: Callable[[Value], Any]
    baseline: Callable[[Value], str] | None
    update: Callable[[Value], str]
    removal: Callable[[Value], str] | None = None
    once: Callable[[], Awaitable[str]] | None = None

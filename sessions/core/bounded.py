"""A dict that does not grow without end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Bounded(dict[K, V]):
    """At most `most` entries: with one more the one set longest ago goes, which `dropped` is told of.

    A key that is set again is the newest. Threads may share it as they may share a dict.
    """

    def __init__(self, most: int, dropped: Callable[[V], object] = lambda value: None) -> None:
        super().__init__()
        self._most = most
        self._dropped = dropped
        self._lock = threading.Lock()

    def __setitem__(self, key: K, value: V) -> None:
        with self._lock:
            super().pop(key, None)
            gone = [super().pop(next(iter(self)))] if len(self) == self._most else []
            super().__setitem__(key, value)
        for dropped in gone:
            self._dropped(dropped)

    def setdefault(self, key: K, default: V) -> V:
        """The value of a key, which is set if it is not there."""
        if key not in self:
            self[key] = default
        return self[key]

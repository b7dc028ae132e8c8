"""Stores that do not grow without end: a dict of so many entries, answers of so much weight."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

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


# Answers that were costly to find, kept by what they were found from, as many as fit in memory.

T = TypeVar("T")


class LRU(Generic[T]):
    """The answers asked for last; `room` is what their weights may come to. Safe between threads."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._lock = threading.Lock()
        self._taken = 0
        self._answers: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()

    def get(self, key: Hashable, find: Callable[[], tuple[T, int]]) -> T:
        """The answer to `key`; `find` gives it with its weight where it is not at hand."""
        with self._lock:
            if found := self._answers.get(key):
                self._answers.move_to_end(key)
                return found[0]
        answer, weight = find()
        with self._lock:
            if weight <= self._room and key not in self._answers:  # another thread may have found it too
                self._answers[key] = (answer, weight)
                self._taken += weight
                while self._taken > self._room:
                    self._taken -= self._answers.popitem(last=False)[1][1]
        return answer

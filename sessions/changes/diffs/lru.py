"""Answers that were costly to find, kept by what they were found from, as many as fit in memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

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

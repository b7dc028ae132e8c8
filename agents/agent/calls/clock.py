"""The time that a call takes, which that of a person is no part of."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from sessions.core.wire.parts import Running, ToolPart


class Clock:
    """Of a call, and of one that another call makes (`outer`): the beginning of both moves on by each wait.
    Waits of one call that overlap count once."""

    def __init__(self, part: ToolPart, outer: Clock | None = None) -> None:
        self._part = part
        self._outer = outer
        self._waits = 0
        self._since = 0.0

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """While a person is waited for."""
        self._stop()
        try:
            yield
        finally:
            self._go_on()

    def forget(self, milliseconds: int) -> None:
        """Leave out what passed before."""
        state = self._part.state
        if isinstance(state, Running):
            state.time.start += milliseconds

    def _stop(self) -> None:
        if not self._waits:
            self._since = time.monotonic()
        self._waits += 1
        if self._outer is not None:
            self._outer._stop()

    def _go_on(self) -> None:
        self._waits -= 1
        if not self._waits:
            self.forget(int((time.monotonic() - self._since) * 1000))
        if self._outer is not None:
            self._outer._go_on()

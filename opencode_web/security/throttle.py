"""Rule 16: failed logins are counted by client address; too many of them close the door for a while."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

LIMIT = 10
"""Failures of one address in one window before it has to wait."""
WINDOW = 60.0
"""Seconds."""
MAX_CLIENTS = 1024


class Throttle:
    """Counts in memory. Of more than 1024 addresses the one that failed longest ago is forgotten."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: dict[str, tuple[int, float]] = {}

    def wait(self, client: str) -> int:
        """Whole seconds until this address may try again; 0 when it may now."""
        count, until = self._failures.get(client, (0, 0.0))
        left = until - self._clock()
        if count and left <= 0:
            del self._failures[client]
        return math.ceil(left) if count >= LIMIT and left > 0 else 0

    def fail(self, client: str) -> None:
        """Count a failure; each one before the limit starts the window again.

        A right login does not clear the count: every process of this machine has the same address.
        """
        count, until = self._failures.pop(client, (0, 0.0))
        now = self._clock()
        while len(self._failures) >= MAX_CLIENTS:
            del self._failures[next(iter(self._failures))]
        self._failures[client] = (count + 1 if until > now else 1, now + WINDOW)

"""Rule 16: wrong logins are counted by client address; after some of them each further one is answered late.

What is right is let in at once, however many were wrong before: every process of this machine has the same
address, and none of them may lock out the person.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from sessions.core.bounded import Bounded

LIMIT = 10
"""Failures of one address in one window that are answered at once."""
WINDOW = 60.0
"""Seconds."""
LONGEST = 30.0
"""Seconds that an answer is held back; each failure adds one."""
MAX_CLIENTS = 1024


class Throttle:
    """Counts in memory. Of more than 1024 addresses the one that failed longest ago is forgotten."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._failures: Bounded[str, tuple[int, float]] = Bounded(MAX_CLIENTS)

    async def fail(self, client: str) -> None:
        """Count a failure, which starts the window again, and return when it may be answered."""
        if seconds := self._count(client):
            await self._sleep(seconds)

    def _count(self, client: str) -> float:
        count, until = self._failures.get(client, (0, 0.0))
        now = self._clock()
        count = count + 1 if until > now else 1
        self._failures[client] = (count, now + WINDOW)
        return min(LONGEST, float(max(0, count - LIMIT)))

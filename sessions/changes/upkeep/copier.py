"""When the database is copied: soon after a start, and after each hour in which something was written."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

from . import copies

logger = logging.getLogger(__name__)

HOUR_SECONDS = 3600.0
QUIET_SECONDS = 60.0
"""So long no turn was at work before a copy is made: it wants the disk."""
PATIENCE_SECONDS = 900.0
"""How long a copy is put off by turns."""
_LOOK_SECONDS = 10.0


class Copier:
    """One a process. `busy` says whether a turn is at work, `clock` counts seconds and is never put back."""

    def __init__(self, busy: Callable[[], bool], clock: Callable[[], float] = time.monotonic) -> None:
        self._busy = busy
        self._clock = clock
        self._busy_at = self._due = clock()

    async def run(self) -> None:
        """For as long as the process lives."""
        while True:
            await self.look()
            await asyncio.sleep(_LOOK_SECONDS)

    async def look(self) -> Path | None:
        """Make a copy, in a thread, if it is time and there is new work; the new one. To be asked often."""
        if not self._is_time():
            return None
        made = None
        try:
            made = await asyncio.to_thread(copies.copy_new_work)
        except (OSError, sqlite3.Error) as error:
            logger.warning("the database was not copied: %s", error)
        self._due = self._clock() + HOUR_SECONDS
        return made

    def _is_time(self) -> bool:
        now = self._clock()
        if self._busy():
            self._busy_at = now
        is_quiet = now - self._busy_at >= QUIET_SECONDS
        return now >= self._due and (is_quiet or now - self._due >= PATIENCE_SECONDS)

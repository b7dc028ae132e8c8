"""Looks after a language server while it runs: the memory it holds, the files it holds open."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

MEMORY_LIMIT = 4 * 1024**3
"""Bytes; a server with more is ended."""
LOOK_SECONDS = 10.0
IDLE_SECONDS = 600.0
"""A document that was not used for so long is closed."""


class Guard:
    """`measure` blocks and gives bytes, or None where they cannot be seen; `end` is called with the reason
    when there are more than `limit`; `tidy` is called at each look."""

    def __init__(
        self,
        measure: Callable[[], int | None],
        limit: int,
        end: Callable[[str], object],
        tidy: Callable[[], object],
    ) -> None:
        self.memory: int | None = None
        self._measure = measure
        self._limit = limit
        self._end = end
        self._tidy = tidy

    async def run(self) -> None:
        while True:
            self.memory = await asyncio.to_thread(self._measure)
            if self.memory is not None and self.memory > self._limit:
                self._end(f"it held {_shown(self.memory)} of memory; {_shown(self._limit)} are allowed")
                return
            self._tidy()
            await asyncio.sleep(LOOK_SECONDS)


def _shown(count: int) -> str:
    return f"{count / 1024**3:.1f} GB"

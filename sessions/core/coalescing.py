"""Work that many want at the same moment, done once for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from contextvars import Context
from typing import Generic, TypeVar

T = TypeVar("T")


class Coalesced(Generic[T]):
    """Of one event loop. Who asks while the work is under way waits for the next, which begins when that has
    ended and is shared by all who wait for it: so what anybody gets was not begun before it was asked for."""

    def __init__(self) -> None:
        self._running: dict[Hashable, asyncio.Task[T]] = {}
        self._waiting: dict[Hashable, asyncio.Task[T]] = {}

    async def get(self, key: Hashable, work: Callable[[], Awaitable[T]]) -> T:
        """What `work` gives, which is the same for all who ask with this key. Its errors come through."""
        task = self._waiting.get(key)
        if task is None:
            loop = asyncio.get_running_loop()
            task = loop.create_task(self._do(key, work, self._running.get(key)), context=Context())
            self._waiting[key] = task
        return await asyncio.shield(task)

    async def _do(self, key: Hashable, work: Callable[[], Awaitable[T]], before: asyncio.Task[T] | None) -> T:
        if before is not None:
            await asyncio.wait([before])
        self._running[key] = me = self._waiting.pop(key)
        try:
            return await work()
        finally:
            if self._running.get(key) is me:
                del self._running[key]

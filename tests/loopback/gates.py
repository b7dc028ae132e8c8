"""Gates: places where a stream stands still until a test lets it go on."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def on_loop(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T]) -> T:
    """Run `work` on `loop` and wait for it from whichever loop is running."""
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, loop))


class Gate:
    """Opened once and then open for good. `open` may be called from any thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._opened = asyncio.Event()
        self._reached = asyncio.Event()

    def open(self) -> None:
        self._loop.call_soon_threadsafe(self._opened.set)

    async def reached(self, within: float = 10.0) -> None:
        """Return when a stream stands at this gate; TimeoutError after `within` seconds."""
        await asyncio.wait_for(on_loop(self._loop, self._wait_reached()), within)

    async def _wait_reached(self) -> None:
        await self._reached.wait()

    async def passed(self) -> None:
        """For the server: stand here until the gate is open."""
        self._reached.set()
        await self._opened.wait()

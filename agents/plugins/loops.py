"""The loops between which plugins are asked: each is known once it runs, and may be asked from any other."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Loop:
    def __init__(self) -> None:
        self._running: asyncio.AbstractEventLoop | None = None

    def __bool__(self) -> bool:
        return self._running is not None

    @property
    def is_another(self) -> bool:
        """Whether it is known, and is not the one that runs this."""
        return self._running not in (None, asyncio.get_running_loop())

    def run(self, loop: asyncio.AbstractEventLoop) -> None:
        """It is this one from now on."""
        self._running = loop

    async def ask(self, work: Coroutine[Any, Any, T]) -> T:
        """What a coroutine gives there. Cancelling this cancels it."""
        assert self._running is not None, "nothing runs there"
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._running))


turns = Loop()
"""Where plugins are loaded and their hooks asked."""
pages = Loop()
"""Where requests are answered, also those of plugins."""

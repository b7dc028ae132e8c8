"""The loops between which plugins are asked: each is known once it runs, and may be asked from any other."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Loop:
    """One that has ended is none: what would be asked there is done where it is wanted."""

    def __init__(self) -> None:
        self._known: asyncio.AbstractEventLoop | None = None

    def __bool__(self) -> bool:
        return self._running is not None

    @property
    def is_another(self) -> bool:
        """Whether it runs, and is not the one that runs this."""
        return self._running not in (None, asyncio.get_running_loop())

    def run(self, loop: asyncio.AbstractEventLoop) -> None:
        """It is this one from now on."""
        self._known = loop

    async def ask(self, work: Coroutine[Any, Any, T]) -> T:
        """What a coroutine gives there. Cancelling this cancels it."""
        running = self._running
        assert running is not None, "nothing runs there"
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, running))

    @property
    def _running(self) -> asyncio.AbstractEventLoop | None:
        return self._known if self._known is not None and self._known.is_running() else None


turns = Loop()
"""Where plugins are loaded and their hooks asked."""
pages = Loop()
"""Where requests are answered, also those of plugins."""

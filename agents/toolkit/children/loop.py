"""An event loop of its own for connections to servers: what they send can stall neither a page nor a turn."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from contextvars import Context
from typing import Any, TypeVar

T = TypeVar("T")


class Background:
    """A thread with a loop, started when it is first needed. Methods may be called from any thread."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def ask(self, work: Coroutine[Any, Any, T]) -> T:
        """What a coroutine gives that runs there. Cancelling this cancels it."""
        if asyncio.get_running_loop() is self._loop:
            return await work
        return await asyncio.wrap_future(self.begin(work))

    def begin(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run a coroutine there; the future tells how it ended. A server outlives the turn that starts it, so
        it is not under that one's lease."""
        return Context().run(asyncio.run_coroutine_threadsafe, work, self.loop)

    def post(self, function: Callable[..., object], *arguments: Any) -> None:
        """Call a function there, soon."""
        self.loop.call_soon_threadsafe(function, *arguments)

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name=self._name, daemon=True).start()
            return self._loop

    @property
    def started(self) -> bool:
        return self._loop is not None


background = Background("servers")
"""For all MCP servers and language servers of this process."""


# What has programs running beside this one says here how they end with it.

logger = logging.getLogger(__name__)

Closer = Callable[[], Awaitable[None]]

_closers: list[Closer] = []


def at_exit(closer: Closer) -> None:
    """Await this on the loop of the servers when the program ends."""
    if closer not in _closers:
        _closers.append(closer)


async def close_all() -> None:
    """End them all, side by side."""
    if background.started:
        await background.ask(_close_all())


async def _close_all() -> None:
    for result in await asyncio.gather(*(closer() for closer in _closers), return_exceptions=True):
        if isinstance(result, BaseException):
            logger.error("a server was not ended well", exc_info=result)

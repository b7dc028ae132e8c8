"""A thread with an event loop for code that is not ours: it may raise, hang or block, and only it suffers."""

from __future__ import annotations

import asyncio
import concurrent.futures
import ctypes
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

Result = TypeVar("Result")

ANSWER_SECONDS = 1.0
"""How long the thread may take to show that it is only waiting, after a call took too long."""


class TimedOut(Exception):
    """The call did not return in time and was cancelled; the thread still answers."""


class Hung(Exception):
    """The thread does not answer: it is left behind and takes no more calls."""


class Host:
    """Calls come from any event loop and are awaited there, never longer than they may take."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=f"plugin {name}", daemon=True)
        self._thread.start()
        self.hung = False

    async def call(self, function: Callable[[], Awaitable[Result]], seconds: float | None) -> Result:
        """What the function returns or raises. Raises TimedOut and Hung. When it is given up (the user's
        stop), the function is cancelled."""
        if self.hung or self._loop.is_closed():
            raise Hung
        future: concurrent.futures.Future[Result]
        future = asyncio.run_coroutine_threadsafe(_contained(function), self._loop)
        waiting = asyncio.wrap_future(future)
        try:
            done, _ = await asyncio.wait({waiting}, timeout=seconds)
        except asyncio.CancelledError:
            future.cancel()
            if not await asyncio.shield(self._answers()):
                self.abandon()
            raise
        if waiting.cancelled():  # by the function itself, or because the thread ends: not by our caller
            raise RuntimeError("it was cancelled")
        if done:
            return waiting.result()
        future.cancel()
        if await self._answers():
            raise TimedOut
        self.abandon()
        raise Hung

    def abandon(self) -> None:
        """Give the thread up. An endless loop of Python ends by the exception that is thrown into it; what
        blocks in the system stays until the server ends."""
        self.hung = True
        if self._thread.ident is not None:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(self._thread.ident), ctypes.py_object(SystemExit)
            )

    def close(self) -> None:
        """End what runs in the thread and the thread itself; does not wait for it."""
        self.hung = True
        with suppress(RuntimeError):  # it has ended already
            self._loop.call_soon_threadsafe(self._loop.stop)

    async def _answers(self) -> bool:
        if self._loop.is_closed():
            return False
        ping = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(asyncio.sleep(0), self._loop))
        done, _ = await asyncio.wait({ping}, timeout=ANSWER_SECONDS)
        return bool(done)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        with suppress(SystemExit):
            self._loop.run_forever()
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        with suppress(SystemExit):
            self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self._loop.close()


async def _contained(function: Callable[[], Awaitable[Any]]) -> Any:
    """`sys.exit()` in a plugin is an error of the plugin."""
    try:
        return await function()
    except (SystemExit, KeyboardInterrupt) as error:
        raise RuntimeError(f"{type(error).__name__} was raised") from error

"""The JavaScript of one folder: its process, started when it is first asked and again after it has ended."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from agents.plugins.host import ANSWER_SECONDS, TimedOut
from agents.plugins.javascript import requests
from agents.plugins.javascript.process import Failed, Gone, Listener, Process
from agents.toolkit.children.loop import background

logger = logging.getLogger(__name__)

MAX_STARTS, WITHIN_SECONDS = 5, 60.0
"""A process that ends more often than that stays ended until a file changes."""

Result = TypeVar("Result")


class Runner:
    """Methods may be called from any loop. It is the `Home` of several plugins: `end` ends all of it."""

    def __init__(self, program: Sequence[str], directory: Path) -> None:
        self._program = program
        self._directory = directory
        self._process: Process | None = None
        self._loaded: list[Mapping[str, Any]] = []
        self._starts: deque[float] = deque(maxlen=MAX_STARTS)
        self._lock = asyncio.Lock()

    async def call(self, function: Callable[[], Awaitable[Result]], seconds: float | None) -> Result:
        """What the function gives or raises. Raises TimedOut."""
        waiting = asyncio.ensure_future(function())
        try:
            done, _ = await asyncio.wait({waiting}, timeout=seconds)
        finally:
            waiting.cancel()  # nothing where it is done
        if done:
            return waiting.result()
        await background.ask(self._end_hung())
        raise TimedOut

    def close(self) -> None:
        """Of one plugin: the others of the process go on."""

    async def load(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        """The names of hooks, and the tools, of a file. Raises Failed and Gone."""
        found: Mapping[str, Any] = await self.ask("load", message)
        self._loaded.append(message)
        return found

    async def answer(self, **message: Any) -> None:
        """What a call has asked; nothing where it has ended with its process."""
        if self._process is not None:
            await self._process.say("answer", **message)

    async def ask(self, do: str, message: Mapping[str, Any], listener: Listener | None = None) -> Any:
        """Raises Failed and Gone."""
        return await background.ask(self._ask(do, message, listener))

    async def _ask(self, do: str, message: Mapping[str, Any], listener: Listener | None) -> Any:
        process = await self._running()
        return await process.ask(do, listener, **message)

    async def _running(self) -> Process:
        async with self._lock:
            if self._process is None or not self._process.alive:
                self._process = await self._start()
            return self._process

    async def _start(self) -> Process:
        if len(self._starts) == MAX_STARTS and time.monotonic() - self._starts[0] < WITHIN_SECONDS:
            raise Gone(f"its process ended {MAX_STARTS} times within a minute; it starts when a file changes")
        self._starts.append(time.monotonic())
        process = await Process.start(self._program, self._directory, requests.answer)
        for message in self._loaded:
            try:
                await process.ask("load", **message)
            except Failed as error:
                logger.warning("%s: not loaded again: %s", message.get("file"), error)
        return process

    def end(self) -> None:
        """Does not wait for it."""
        background.begin(self._end())

    async def _end_hung(self) -> None:
        """Where one plugin keeps the process from doing anything, the others are served by a new one."""
        if self._process is None or not self._process.alive:
            return
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._process.ask("ping")
        except TimeoutError:
            await self._end()
        except (Failed, Gone):
            return

    async def _end(self) -> None:
        async with self._lock:
            if self._process is not None:
                await self._process.end()
                self._process = None

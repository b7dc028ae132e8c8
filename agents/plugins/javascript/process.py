"""The process in which JavaScript runs: one for each folder, started with its first plugin.

`host.mjs` says what a message is. Whatever ends the process, by itself or by us, ends all that waits for it.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.toolkit.children.child import CannotStart, Child
from agents.toolkit.children.loop import at_exit
from agents.toolkit.shared.environment import program_environment

logger = logging.getLogger(__name__)

HOST = Path(__file__).parent / "host.mjs"
MAX_MESSAGE = 64 * 1024 * 1024
"""Bytes of a line: a tool may give a picture."""
_APART = ("/bin/sh", "-c", 'exec "$0" "$@" 3>&1 1>&2')
"""What a plugin prints is no message: those go through a descriptor of their own."""

Message = Mapping[str, Any]
Listener = Callable[[Message], Awaitable[None]]
Answer = Callable[[Message, Callable[..., Awaitable[None]]], Awaitable[None]]


class Failed(Exception):
    """The code of the plugin raised; the text is what it said, `name` the kind of its error."""

    def __init__(self, error: Message) -> None:
        super().__init__(str(error.get("message", "")))
        self.name = str(error.get("name", "Error"))
        self.misses_package = error.get("code") in ("ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND")


class Gone(Exception):
    """The process has ended, or could not be started; the text says how."""


class Process:
    """Use it on the loop that started it."""

    def __init__(self, child: Child, answer: Answer) -> None:
        self._child = child
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._listeners: dict[int, Listener] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._requests: dict[int, asyncio.Task[None]] = {}
        self._answer = answer
        self._ending: asyncio.Task[None] | None = None
        self._reading = asyncio.create_task(self._read())
        _running.add(self)
        at_exit(end_all)

    @classmethod
    async def start(cls, program: Sequence[str], directory: Path, answer: Answer) -> Process:
        """`answer` is given what plugins ask of the server, and `say` for what is answered. Raises Gone."""
        # Bun does what `bunfig.toml` and `.env` say where it starts, which a project was not trusted with.
        argv = [*_APART, *program, str(HOST), str(directory)]
        try:
            child = await Child.start(argv, cwd=HOST.parent, env=program_environment(), limit=MAX_MESSAGE)
        except CannotStart as error:
            raise Gone(str(error)) from error
        return cls(child, answer)

    @property
    def alive(self) -> bool:
        return self._child.alive and self._ending is None

    async def ask(self, do: str, listener: Listener | None = None, **message: Any) -> Any:
        """What it answers. `listener` is given what a call says meanwhile. Raises Failed and Gone; when this
        is cancelled, the call is told to stop."""
        number = next(self._numbers)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        if listener is not None:
            self._listeners[number] = listener
        try:
            await self.say(do, id=number, **message)
            return await answer
        except asyncio.CancelledError:
            if self.alive:
                await asyncio.shield(self.say("stop", call=number))
            raise
        finally:
            self._waiting.pop(number, None)
            self._listeners.pop(number, None)

    async def say(self, do: str, **message: Any) -> None:
        """Raises Gone."""
        if not self.alive:
            raise Gone(self._last_words())
        line = json.dumps({"do": do, **message}, allow_nan=False).encode()
        try:
            self._child.input.write(line + b"\n")
            await self._child.input.drain()
        except OSError as error:
            raise Gone(self._last_words()) from error

    async def end(self) -> None:
        """All that waits for it is told."""
        await self._end_child()
        await self._reading

    def _end_child(self) -> asyncio.Task[None]:
        """Also what it has started, and where it has ended by itself."""
        if self._ending is None:
            self._ending = asyncio.create_task(self._child.end())
        return self._ending

    async def _read(self) -> None:
        try:
            while line := await self._child.output.readline():
                self._take(json.loads(line))
        except ValueError as error:
            logger.warning("the process of the plugins said what is no message: %s", error)
        finally:
            await self._lost()

    def _take(self, message: Message) -> None:
        number = message.get("id")
        if number is not None:
            answer = self._waiting.get(number)
            if answer is None or answer.done():
                return
            if "error" in message:
                answer.set_exception(Failed(message["error"]))
            else:
                answer.set_result(message["given"])
        elif listener := self._listeners.get(message.get("call", 0)):
            self._begin(listener(message))
        elif number := message.get("request"):
            self._requests[number] = self._begin(self._answer(message, self.say))
            self._requests[number].add_done_callback(lambda _: self._requests.pop(number, None))
        elif dropped := self._requests.get(message.get("dropped", 0)):
            dropped.cancel()

    def _begin(self, work: Awaitable[None]) -> asyncio.Task[None]:
        task = asyncio.create_task(_contained(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _lost(self) -> None:
        for task in self._tasks:
            task.cancel()
        await self._end_child()
        _running.discard(self)
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(Gone(self._last_words()))

    def _last_words(self) -> str:
        said = self._child.errors.last()
        return f"its process has ended{f': {said}' if said else ''}"


async def _contained(work: Awaitable[None]) -> None:
    try:
        await work
    except Gone:
        logger.debug("the process of the plugins ended while it was answered")
    except Exception:
        logger.exception("a plugin was not answered")


_running: set[Process] = set()


async def end_all() -> None:
    await asyncio.gather(*(process.end() for process in list(_running)))

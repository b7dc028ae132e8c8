"""A call to an MCP server while it is in flight."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from agents.servers.mcp.errors import ServerFailed
from sessions.core.sentences import Sentence, joined
from sessions.core.text import error_text

T = TypeVar("T")

_CLOSED = -32000
"""The SDK's code for an answer that cannot come, as the connection has ended."""
_REASON_SECONDS = 2.0
"""Until it is known why a connection has ended."""

_leaving: set[asyncio.Future[Any]] = set()
"""Calls that were given up and still tell their server."""


@dataclass(slots=True, eq=False)
class Call:
    """`owner` is whoever asks: what a question of the server in the middle of the call goes to. `over` is set
    on the loop of the servers when nobody waits for it any longer."""

    owner: Any = None
    over: asyncio.Event = field(default_factory=asyncio.Event)
    _touched: float = field(default_factory=time.monotonic)
    _held: int = 0

    def touch(self) -> None:
        """The time that the server has begins anew: it has shown that it works."""
        self._touched = time.monotonic()

    @contextmanager
    def held(self) -> Iterator[None]:
        """The time does not run: the server waits for us, or for a person."""
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1
            self.touch()

    def left(self, within: float) -> float:
        """Seconds, not above zero when the time is up."""
        return within if self._held else self._touched + within - time.monotonic()


async def settle(work: Awaitable[T], gone: asyncio.Future[str], within: float, call: Call) -> T:
    """What the work gives, `within` so many seconds. Raises ServerFailed with the rest of a sentence about
    the server."""
    task = asyncio.ensure_future(work)
    both: set[asyncio.Future[Any]] = {task, gone}
    call.touch()
    try:
        while not task.done() and not gone.done():
            if (left := call.left(within)) <= 0:
                raise ServerFailed(Sentence("did not answer within %(seconds)s s.", seconds=f"{within:g}"))
            await asyncio.wait(both, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
    except ServerFailed:
        raise
    except Exception as error:
        if getattr(error, "code", None) != _CLOSED:
            raise ServerFailed(
                Sentence("answered with an error: %(error)s", error=error_text(error))
            ) from error
        await asyncio.wait({gone}, timeout=_REASON_SECONDS)
    finally:
        _leave(task)
    words = Sentence("went away in the middle of the call.")
    raise ServerFailed(joined(filter(None, (words, gone.result() if gone.done() else "")), " "))


def _leave(task: asyncio.Future[Any]) -> None:
    """A cancelled request tells the server that nobody waits; that takes a moment more."""
    if not task.done():
        task.cancel()
        _leaving.add(task)
        task.add_done_callback(_leaving.discard)

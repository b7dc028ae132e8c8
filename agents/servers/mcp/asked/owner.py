"""Whose call a server is working at: what it asks meanwhile is asked of that call's session."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

from agents.servers.mcp.calls import Call
from agents.toolkit.base import ToolContext

T = TypeVar("T")


class CallOver(Exception):
    """The call ended before what was asked in it had an answer."""


@dataclass(slots=True, eq=False)
class Owner:
    """A tool call, and the loop of its turn."""

    context: ToolContext
    loop: asyncio.AbstractEventLoop
    _asked: set[Future[Any]] = field(default_factory=set)

    async def ask(self, work: Coroutine[Any, Any, T]) -> T:
        """What a coroutine gives that runs on the turn's loop; from the loop of the servers. Cancelling this
        cancels it. Raises CallOver."""
        future = asyncio.run_coroutine_threadsafe(work, self.loop)
        self._asked.add(future)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            raise CallOver from None
        finally:
            self._asked.discard(future)

    def leave(self) -> None:
        """The call is over: nobody is asked any longer."""
        for future in list(self._asked):
            future.cancel()


def owned(calls: Sequence[Call]) -> Call | None:
    """The newest call that a session has in flight. A server does not say for which call it asks, and works
    at one at a time mostly."""
    return next((call for call in reversed(calls) if isinstance(call.owner, Owner)), None)

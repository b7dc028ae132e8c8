"""Whose call a server is working at: what it asks meanwhile is asked of that call's session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, TypeVar

from agents.servers.mcp.calls import Call
from agents.toolkit.base import ToolContext

T = TypeVar("T")


class CallOver(Exception):
    """The calls ended before what was asked in them had an answer."""


@dataclass(frozen=True, slots=True)
class Owner:
    """A tool call, and the loop of its turn."""

    context: ToolContext
    loop: asyncio.AbstractEventLoop


async def ask(calls: Sequence[Call], work: Callable[[ToolContext], Coroutine[Any, Any, T]]) -> T:
    """What a coroutine gives that runs on the turn's loop; from the loop of the servers.

    `calls` are in flight, all of one session, the newest last: it is that one's context that is asked, and
    the time of none of them runs. Cancelling this cancels the coroutine. Raises CallOver when the last of
    them ended first.
    """
    newest: Owner = calls[-1].owner
    answer = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work(newest.context), newest.loop))
    over: asyncio.Future[Any] = asyncio.gather(*(call.over.wait() for call in calls))
    with ExitStack() as stack:
        for call in calls:
            stack.enter_context(call.held())
        try:
            await asyncio.wait({answer, over}, return_when=asyncio.FIRST_COMPLETED)
            if not answer.done() or answer.cancelled():
                raise CallOver
            return answer.result()
        finally:
            answer.cancel()
            over.cancel()


def owned(calls: Sequence[Call]) -> Sequence[Call]:
    """The calls in flight of the session whose call is the newest one; none where no call is a session's. A
    server does not say for which of them it asks."""
    known = [call for call in calls if isinstance(call.owner, Owner)]
    return [call for call in known if call.owner.context.session_id == known[-1].owner.context.session_id]

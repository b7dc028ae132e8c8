"""What has programs running beside this one says here how they end with it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from agents.toolkit.children.loop import background

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

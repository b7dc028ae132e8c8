"""Work that a stop must not cut in half: what a call did is recorded once, and whole."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def undisturbed(work: Coroutine[Any, Any, T]) -> T:
    """Do it to its end, however often this is cancelled meanwhile; the cancellation comes after it.

    Raises what the work raises, unless it is cancelled.
    """
    task = asyncio.create_task(work)
    stop: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as cancelled:
            stop = cancelled
    if stop is not None:
        task.exception()
        raise stop
    return task.result()

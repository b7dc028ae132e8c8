"""How a process ends at a signal: in order when it can, in time in any case."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Awaitable, Callable

logger = logging.getLogger(__name__)

SECONDS = 4.0
"""What the hook may take; half a second later the process ends, whatever still runs."""
_GRACE_SECONDS = 0.5

Hook = Callable[[], Awaitable[None]]


async def shut_down(hook: Hook) -> None:
    """Await the hook for at most 4 s; what it raises is logged. The process ends soon afterwards."""
    _end_process_later()
    try:
        async with asyncio.timeout(SECONDS):
            await hook()
    except TimeoutError:
        logger.error("the shutdown took more than %.0f s and was cut short", SECONDS)
    except Exception:
        logger.exception("the shutdown failed")


def _end_process_later() -> None:
    """A thread that no library waits for cannot be joined at exit; so the end does not depend on it."""

    def end() -> None:
        logger.error("ended with work still running")
        logging.shutdown()
        os._exit(1)

    timer = threading.Timer(SECONDS + _GRACE_SECONDS, end)
    timer.daemon = True
    timer.start()

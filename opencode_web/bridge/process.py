"""A protocol on standard input and output, spoken until the input or we are ended."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from opencode_web.bridge.remote.launcher import Wanted
from opencode_web.bridge.remote.link import Link

CHUNK = 65536


_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(u[dD][89a-fA-F][\da-fA-F]{2})|.)"
)
"""One of JSON; the group has a lone surrogate."""


class Lines:
    """The lines of the input. Reading happens in a thread nobody waits for, on the descriptor itself: the
    interpreter's own reader has a lock that would stop its shutdown. Lone surrogates, which JavaScript writes
    where a text was cut within a character and SDKs refuse, are replaced."""

    def __init__(self, descriptor: int = 0) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    async def __aiter__(self) -> AsyncIterator[str]:
        rest: list[bytes] = []
        while chunk := await self._chunks.get():
            first, *others = chunk.split(b"\n")
            rest.append(first)
            for other in others:
                line, rest = b"".join(rest), [other]
                if line.strip():
                    text = line.decode(errors="replace")
                    yield _ESCAPE.sub(lambda escape: r"\ufffd" if escape[1] else escape[0], text)

    def _read(self) -> None:
        chunk = b"\n"
        while chunk:
            try:
                chunk = os.read(self._descriptor, CHUNK)
            except OSError:
                chunk = b""
            try:
                self._loop.call_soon_threadsafe(self._chunks.put_nowait, chunk)
            except RuntimeError:  # the loop has ended before the input did
                return


def run(wanted: Wanted, serve: Callable[[Link], Coroutine[Any, Any, None]]) -> None:
    """Return when `serve` does, which ends with our input, or at SIGTERM or SIGINT."""
    # Standard output is the protocol's alone.
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s", force=True
    )
    asyncio.run(_until_ended(wanted, serve))


async def _until_ended(wanted: Wanted, serve: Callable[[Link], Coroutine[Any, Any, None]]) -> None:
    async with Link(wanted) as link:
        serving = asyncio.create_task(serve(link))
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            # A second signal finds the task ended: it cannot cut short how the link is closed.
            loop.add_signal_handler(number, serving.cancel)
        await asyncio.wait({serving})
    if not serving.cancelled():
        serving.result()

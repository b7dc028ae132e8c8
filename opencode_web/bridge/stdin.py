"""Standard input, line by line, in a way that a waiting reader does not hold up our end."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator

CHUNK = 65536


class Lines:
    """What the SDK's stdio transport iterates over. Reading happens in a thread nobody waits for, on the
    descriptor itself: the interpreter's own reader has a lock that would stop its shutdown."""

    def __init__(self, descriptor: int = 0) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    async def __aiter__(self) -> AsyncIterator[str]:
        rest = b""
        while chunk := await self._chunks.get():
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                yield line.decode(errors="replace")

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

"""`opencode-web mcp`: serve the protocol on standard input and output until the input or we are ended."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator
from typing import Any, cast

from mcp.server.stdio import stdio_server

from opencode_web.bridge.call import Call, default_model
from opencode_web.bridge.remote.launcher import Wanted
from opencode_web.bridge.remote.link import Link
from opencode_web.bridge.server import Bridge

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


def run(wanted: Wanted) -> None:
    """Return when the client has closed our input, or at SIGTERM or SIGINT."""
    _log_to_stderr()
    asyncio.run(_until_ended(wanted))


async def _until_ended(wanted: Wanted) -> None:
    async with Link(wanted) as link:
        serving = asyncio.create_task(_serve(link))
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            # A second signal finds the task ended: it cannot cut short how the link is closed.
            loop.add_signal_handler(number, serving.cancel)
        await asyncio.wait({serving})
    if not serving.cancelled():
        serving.result()


async def _serve(link: Link) -> None:
    server = Bridge(Call(link, _ignore, None, default_model(os.environ))).server
    # The SDK says AsyncFile and iterates only.
    async with stdio_server(stdin=cast(Any, Lines())) as (received, sent):
        await server.run(received, sent, server.create_initialization_options())


async def _ignore(_: str) -> None:
    """Progress outside of a tool call."""


def _log_to_stderr() -> None:
    """Standard output is the protocol's alone."""
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s", force=True
    )

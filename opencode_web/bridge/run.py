"""`opencode-web mcp`: serve the protocol on standard input and output until the input or we are ended."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
import sys
import threading
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from typing import Any, cast

import anyio
from anyio.abc import ObjectSendStream
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError

from opencode_web.bridge.call import Call, default_model
from opencode_web.bridge.remote.launcher import Wanted
from opencode_web.bridge.remote.link import Link
from opencode_web.bridge.server import Bridge

CHUNK = 65536


_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(u[dD][89a-fA-F][\da-fA-F]{2})|.)"
)
"""One of JSON; the group has a lone surrogate."""


class Lines:
    """What the SDK's stdio transport iterates over. Reading happens in a thread nobody waits for, on the
    descriptor itself: the interpreter's own reader has a lock that would stop its shutdown. Lone surrogates,
    which JavaScript writes where a text was cut within a character and the SDK refuses, are replaced."""

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
    async with stdio_server(stdin=cast(Any, Lines())) as (received, sent), anyio.create_task_group() as group:
        source, messages = anyio.create_memory_object_stream[SessionMessage | Exception]()
        group.start_soon(_hand_on, received, source, sent.send)
        await server.run(messages, sent, server.create_initialization_options())


async def _hand_on(
    received: AsyncIterable[SessionMessage | Exception],
    source: ObjectSendStream[SessionMessage | Exception],
    answer: Callable[[SessionMessage], Awaitable[None]],
) -> None:
    """What is no message is answered here (JSON-RPC 2.0 §5.1): the SDK would leave the client to wait."""
    async with source:
        async for item in received:
            if isinstance(item, Exception):
                error = ErrorData(code=PARSE_ERROR, message=f"This is no message of JSON-RPC: {item}")
                await answer(SessionMessage(JSONRPCError(jsonrpc="2.0", id=None, error=error)))
            else:
                await source.send(item)


async def _ignore(_: str) -> None:
    """Progress outside of a tool call."""


def _log_to_stderr() -> None:
    """Standard output is the protocol's alone."""
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s", force=True
    )

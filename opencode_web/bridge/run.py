"""`opencode-web mcp`: serve the protocol on standard input and output until the input or we are ended."""

from __future__ import annotations

import os
from collections.abc import AsyncIterable, Awaitable, Callable
from typing import Any, cast

import anyio
from anyio.abc import ObjectSendStream
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError

from opencode_web.bridge import process
from opencode_web.bridge.call import Call, default_model
from opencode_web.bridge.process import Lines
from opencode_web.bridge.remote.launcher import Wanted
from opencode_web.bridge.remote.link import Link
from opencode_web.bridge.server import Bridge


def run(wanted: Wanted) -> None:
    """Return when the client has closed our input, or at SIGTERM or SIGINT."""
    process.run(wanted, _serve)


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

"""`opencode-web mcp`: serve the protocol on standard input and output until the input or we are ended."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from typing import Any, cast

from mcp.server.stdio import stdio_server

from opencode_web.bridge.call import Call
from opencode_web.bridge.server import Bridge
from opencode_web.bridge.settings import default_model
from opencode_web.bridge.stdin import Lines
from opencode_web.remote.launcher import Wanted
from opencode_web.remote.link import Link


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
    server = Bridge(Call(link, _unheard, None, default_model(os.environ))).server
    # The SDK says AsyncFile and iterates only.
    async with stdio_server(stdin=cast(Any, Lines())) as (received, sent):
        await server.run(received, sent, server.create_initialization_options())


async def _unheard(_: str) -> None:
    """Progress outside of a tool call."""


def _log_to_stderr() -> None:
    """Standard output is the protocol's alone."""
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s", force=True
    )

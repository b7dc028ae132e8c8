"""The command line that both servers share."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from pathlib import Path

from tests.loopback.script import load
from tests.loopback.server import LoopbackServer


def main(kind: type[LoopbackServer]) -> None:
    """Serve `--script FILE` on `--port N` (0: any free one) until SIGINT or SIGTERM; print the base URL."""
    parser = argparse.ArgumentParser(description=kind.__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", type=Path, required=True, help="JSON list of turns")
    parser.add_argument("--title", default="A title", help="the answer to requests for a title")
    options = parser.parse_args()
    asyncio.run(serve(kind(load(options.script), title=options.title, port=options.port)))


async def serve(server: LoopbackServer) -> None:
    """Run a server until the process is told to end."""
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    async with server:
        sys.stdout.write(f"listening on {server.base_url}\n")
        sys.stdout.flush()
        await ended.wait()

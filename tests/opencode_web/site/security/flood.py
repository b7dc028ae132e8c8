"""A server that sends without end, as a process: `python -m tests.opencode_web.site.security.flood`.

It prints its port, and when a client is gone (or MOST was sent) how many bytes it was able to send to it.
"""

from __future__ import annotations

import asyncio
from typing import Any

from opencode_web.cli.terminal import say
from opencode_web.site import server
from opencode_web.site.server import find_port, serve

CHUNK = 64 * 1024
MOST = 200 * 1024 * 1024


async def application(scope: Any, receive: Any, send: Any) -> None:
    await receive()
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        message: dict[str, Any] = {"type": "websocket.send", "text": "x" * CHUNK}
    else:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        message = {"type": "http.response.body", "body": b"x" * CHUNK, "more_body": True}
    gone = asyncio.create_task(receive())
    sent = 0
    while sent < MOST and not gone.done():
        await send(message)
        sent += CHUNK
    say(str(sent))


async def nothing() -> None:
    pass


if __name__ == "__main__":
    server.PATIENCE = 0.5
    port = find_port("127.0.0.1", 0)

    async def ready() -> None:
        say(str(port))

    serve(application, "127.0.0.1", port, on_ready=ready, on_shutdown=nothing)

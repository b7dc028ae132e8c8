"""A guarded server around a tiny application, run as a process: `python -m tests.opencode_web.cli.app`."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from pathlib import Path

from opencode_web.cli.terminal import say
from opencode_web.site import logs
from opencode_web.site.security.asgi import Receive, Scope, Send, respond
from opencode_web.site.security.guard import Guard
from opencode_web.site.security.launch import launch_url
from opencode_web.site.security.policy import policy_for
from opencode_web.site.server import find_port, serve
from sessions.core import paths

MARK = Path(os.environ["HOME"]) / "shut-down"


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        message = await receive()
        await send({"type": "websocket.send", "text": message["text"]})
        return
    await respond(send, 200, json.dumps({"root_path": scope["root_path"]}))


def main(address: str, behaviour: str) -> None:
    logs.set_up(print_logs=True)
    port = find_port(address, 0)
    guard = Guard(application, policy_for(address, port, paths.secret(), os.environ))
    base = f"http://[{address}]:{port}" if ":" in address else f"http://{address}:{port}"

    async def on_ready() -> None:
        if behaviour == "fails":
            raise RuntimeError("cannot begin")
        say(launch_url(base, guard.launch_tokens.issue()))

    async def on_shutdown() -> None:
        if behaviour == "hangs":
            await asyncio.Event().wait()
        if behaviour == "blocks":
            threading.Event().wait()
        MARK.write_text("saved")

    serve(guard, address, port, on_ready=on_ready, on_shutdown=on_shutdown)


if __name__ == "__main__":
    main(*sys.argv[1:])

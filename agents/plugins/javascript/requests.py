"""What plugins ask of the server's API: past the network, and so without an address, a password or a port.

A plugin runs as the person who trusted it, who may ask for all of this too.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import Any

from agents.llm.accounts import keeping
from agents.plugins.javascript.process import Message
from agents.plugins.loops import pages

Application = Callable[[Any, Any, Any], Awaitable[None]]
"""An ASGI application (https://asgi.readthedocs.io/en/latest/specs/www.html)."""
Say = Callable[..., Awaitable[None]]

of_plugin: ContextVar[bool] = ContextVar("of_plugin", default=False)
"""Whether a plugin asks, and may be what is waited for."""
_PRINCIPAL = {"kind": "plugin", "session": None, "csrf": None}
_serving: list[Application] = []


def serve(application: Application, loop: asyncio.AbstractEventLoop) -> None:
    """Ask it from now on, on its loop."""
    _serving[:] = [application]
    pages.run(loop)


async def answer(request: Message, say: Say) -> None:
    """Its answer, as it comes; a cancellation ends what answers."""
    number = request["request"]
    if provider_id := request.get("auth"):
        await _give(number, (await keeping.entries()).get(provider_id), say)
        return
    if not (_serving and pages):
        await say("respond", request=number, status=503, headers=[])
        await say("goOn", request=number, ended=True)
        return
    here = asyncio.get_running_loop()

    async def send(event: Mapping[str, Any]) -> None:
        """On the application's loop."""
        told = asyncio.run_coroutine_threadsafe(_tell(number, event, say), here)
        await asyncio.wrap_future(told)

    await pages.ask(_asked(_serving[0], request, send))


async def _give(number: int, value: Any, say: Say) -> None:
    await say("respond", request=number, status=200, headers=[])
    await say("goOn", request=number, data=base64.b64encode(json.dumps(value).encode()).decode(), ended=True)


async def _tell(number: int, event: Mapping[str, Any], say: Say) -> None:
    if event["type"] == "http.response.start":
        headers = [[name.decode("latin-1"), value.decode("latin-1")] for name, value in event["headers"]]
        await say("respond", request=number, status=event["status"], headers=headers)
    elif event["type"] == "http.response.body":
        data, ended = base64.b64encode(event.get("body", b"")).decode(), not event.get("more_body", False)
        await say("goOn", request=number, data=data, ended=ended)


async def _asked(application: Application, request: Message, send: Any) -> None:
    of_plugin.set(True)
    body, left = base64.b64decode(request["body"]), asyncio.Event()
    headers = [
        (name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in request["headers"]
    ]
    given = False

    async def receive() -> Mapping[str, Any]:
        nonlocal given
        if given:
            await left.wait()  # until this is cancelled
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    path = request["path"]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request["method"],
        "scheme": "http",
        "path": path,
        "raw_path": path.encode("latin-1", "replace"),
        "root_path": "",
        "query_string": request["query"].encode("latin-1", "replace"),
        "headers": [*headers, (b"host", b"localhost"), (b"content-length", str(len(body)).encode())],
        "client": ("127.0.0.1", 0),
        "server": ("localhost", 80),
        "principal": _PRINCIPAL,
    }
    await application(scope, receive, send)

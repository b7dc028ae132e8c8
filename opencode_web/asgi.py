"""HTTP and WebSocket behind one guard, static files beside Django, and the background consumer."""

from __future__ import annotations

import asyncio
from typing import Any

from channels.layers import get_channel_layer
from channels.routing import ChannelNameRouter, URLRouter
from channels.worker import Worker
from django.core.asgi import get_asgi_application

django_application = get_asgi_application()  # sets Django up: before anything that imports models

from agents.runtime.consumer import AgentConsumer  # noqa: E402
from agents.runtime.runtime import runtime  # noqa: E402
from opencode_web import static_files  # noqa: E402
from opencode_web.security import Guard, Policy  # noqa: E402
from sessions.socket import websocket_urlpatterns  # noqa: E402
from sessions.wake import CHANNEL  # noqa: E402

_static = static_files.application()
_websocket = URLRouter(websocket_urlpatterns)
_tasks: list[asyncio.Task[None]] = []


async def _application(scope: dict[str, Any], receive: Any, send: Any) -> None:
    if scope["type"] == "websocket":
        await _websocket(scope, receive, send)
    elif scope["path"].startswith("/static/"):
        await _static(scope, receive, send)
    else:
        await django_application(scope, receive, send)


def build(policy: Policy) -> Guard:
    """The whole application for one listening address."""
    return Guard(_application, policy)


async def startup() -> None:
    """Begin to work: what a crash cut short, the background consumer on this loop, the turns on a thread."""
    worker = Worker(ChannelNameRouter({CHANNEL: AgentConsumer.as_asgi()}), [CHANNEL], get_channel_layer())
    _tasks.append(asyncio.create_task(worker.arun()))
    runtime.start()


async def shutdown() -> None:
    """Interrupt running turns with their partial output saved, then stop listening."""
    await runtime.stop()
    for task in _tasks:
        task.cancel()

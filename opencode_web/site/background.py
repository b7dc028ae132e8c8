"""What runs beside the pages, or without any: the bus to other processes, the background consumer, the turns.

Import it when Django is set up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack
from typing import Any

from channels.layers import get_channel_layer
from channels.routing import ChannelNameRouter
from channels.worker import Worker
from django.conf import settings

from agents.agent.consumer import AgentConsumer
from agents.agent.runtime import runtime
from agents.agent.schedules.scheduler import Scheduler
from agents.notifiers import outbox
from agents.plugins.javascript import requests
from agents.servers.lsp import telling
from agents.toolkit.children.loop import close_all
from agents.toolkit.children.warden import warden
from agents.web.git import running
from opencode_web.asgi import pages
from opencode_web.site import logins, readiness
from opencode_web.site.metrics import counts
from sessions.core.bus_redis import RedisBus
from sessions.search import indexer
from sessions.terminals.registry import terminals

LOOK_SECONDS = 1.0
"""Between two looks whether the consumer has failed; by itself the worker looks ten times a second."""

_running = AsyncExitStack()


async def start() -> None:
    """Begin to work; call once, from the loop that goes on. Raises redis.RedisError without a Redis."""
    _running.push_async_callback(terminals.close)
    _running.push_async_callback(close_all)
    _running.callback(running.stop_all)
    terminals.watcher = warden
    telling.register()
    if settings.REDIS_URL:
        redis_bus = RedisBus(settings.REDIS_URL, settings.EVENT_CHANNEL, settings.INSTALLATION)
        await asyncio.to_thread(redis_bus.start)
        _running.push_async_callback(asyncio.to_thread, redis_bus.stop)
        beside(logins.follow())
    beside(indexer.run())
    beside(outbox.run())
    if settings.METRICS:
        beside(counts.follow())
    if settings.RUNS_TURNS:
        _start_turns()
    readiness.begin(lambda: not settings.RUNS_TURNS or runtime.is_alive)


async def stop() -> None:
    """Interrupt running turns with their partial output saved, stop listening and telling, end terminals."""
    readiness.end()
    await _running.aclose()


def beside(work: Coroutine[Any, Any, None]) -> None:
    """Have it run until `stop`."""
    _running.callback(asyncio.create_task(work).cancel)


def at_end(callback: Callable[[], Awaitable[None]]) -> None:
    """Have `stop` await this first, of all that was begun until now."""
    _running.push_async_callback(callback)


def _start_turns() -> None:
    layer = get_channel_layer()
    assert layer is not None, "CHANNEL_LAYERS has no default"
    channel = settings.AGENT_CHANNEL
    worker: Any = Worker(ChannelNameRouter({channel: AgentConsumer.as_asgi()}), [channel], layer)
    worker.application_checker_interval = LOOK_SECONDS
    consumer = asyncio.create_task(worker.arun())
    _running.callback(consumer.cancel)
    requests.serve(pages, asyncio.get_running_loop())
    runtime.start()
    _running.push_async_callback(runtime.stop)
    beside(Scheduler().run())

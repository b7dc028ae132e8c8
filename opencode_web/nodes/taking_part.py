"""What a node or a front does in its team beside its pages."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from django.conf import settings

from agents.agent.runtime import runtime
from opencode_web.nodes import front, registry, settling
from opencode_web.nodes.heartbeat import Heartbeat
from opencode_web.nodes.parking.parker import Parker
from opencode_web.nodes.parking.place import Place
from sessions.core.db import in_db

logger = logging.getLogger(__name__)


async def start(address: str) -> Callable[[], Awaitable[None]]:
    """Begin; what it gives ends it. `address` is where fronts reach a node."""
    if settings.FRONT:
        return await _settle()
    member = await in_db(registry.join, settings.NODE, address)
    heartbeat = Heartbeat(member, _load)
    heartbeat.start()
    logger.info("node %s at %s, start %d", member.name, address, member.start)
    parking = asyncio.create_task(Parker(member.name, Place(settings.PARK)).run()) if settings.PARK else None

    async def stop() -> None:
        if parking is not None:
            await _ended(parking)
        await asyncio.to_thread(heartbeat.stop)

    return stop


def _load() -> dict[str, int]:
    return {"turns": runtime.turns, "capacity": settings.MOST_TURNS}


async def _settle() -> Callable[[], Awaitable[None]]:
    task = asyncio.create_task(settling.run())

    async def stop() -> None:
        await _ended(task)
        await front.close()

    return stop


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

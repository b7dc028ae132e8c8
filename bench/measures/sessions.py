"""Creating sessions one after the other and eight at once, and listing a thousand of them."""

from __future__ import annotations

import asyncio
import time

from bench.client import Client
from bench.lab import Lab
from bench.stats import median, percentile

LISTED = 1000
AT_ONCE = 8


async def measure(lab: Lab) -> dict[str, float]:
    created = []
    listed = []
    async with lab.server() as server:
        await server.client.create_session()
        for _ in range(lab.count(LISTED) - 1):
            began = time.perf_counter()
            await server.client.create_session()
            created.append((time.perf_counter() - began) * 1000)
        for _ in range(lab.count(30)):
            began = time.perf_counter()
            found = await server.client.sessions(LISTED)
            listed.append((time.perf_counter() - began) * 1000)
        if len(found) != lab.count(LISTED):
            raise ValueError(f"{len(found)} sessions listed")
        rate = await _created_at_once(server.client, lab.count(400))
    return {
        "create session p50 (ms)": median(created),
        "create session p95 (ms)": percentile(created, 95),
        "create sessions, 8 at once (sessions/s)": rate,
        "list 1000 sessions p50 (ms)": median(listed),
    }


async def _created_at_once(client: Client, count: int) -> float:
    """Sessions a second, with eight requests under way all the time."""
    waiting = iter(range(count))

    async def worker() -> None:
        for _ in waiting:
            await client.create_session()

    began = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(AT_ONCE)))
    return count / (time.perf_counter() - began)

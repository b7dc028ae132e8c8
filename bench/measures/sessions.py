"""Creating sessions one after the other, and listing a thousand of them."""

from __future__ import annotations

import time

from bench.lab import Lab
from bench.stats import median, percentile

LISTED = 1000


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
    return {
        "create session p50 (ms)": median(created),
        "create session p95 (ms)": percentile(created, 95),
        "list 1000 sessions p50 (ms)": median(listed),
    }

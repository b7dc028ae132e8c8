"""Thirty-two sessions streaming at once in one project."""

from __future__ import annotations

import asyncio

from bench.lab import Lab, Server
from bench.model import prompt
from bench.stats import percentile
from bench.turns import check_count, driving

STREAMS = 32
SPACING_SECONDS = 0.01
SAMPLING_SECONDS = 0.2


async def measure(lab: Lab) -> dict[str, float]:
    count = lab.count(300)
    async with lab.server() as server, driving(server.client) as driver:
        sessions = [await driver.session() for _ in range(STREAMS)]
        await driver.turn(await driver.session())
        peak = asyncio.create_task(_peak(server))
        seen = await driver.turns(sessions, prompt(deltas=count, delay=SPACING_SECONDS))
        peak.cancel()
        highest = max(await peak, server.memory())
    check_count(seen, count)
    received = [delta[1] for turn in seen for delta in turn.deltas]
    latencies = [latency for turn in seen for latency in turn.latencies_ms]
    return {
        "32 streams, delivered (deltas/s)": len(received) / ((max(received) - min(received)) / 1e9),
        "32 streams, latency p95 (ms)": percentile(latencies, 95),
        "32 streams, memory peak (MB)": highest,
    }


async def _peak(server: Server) -> float:
    """The highest memory until cancelled."""
    highest = 0.0
    try:
        while True:
            highest = max(highest, await asyncio.to_thread(server.memory))
            await asyncio.sleep(SAMPLING_SECONDS)
    except asyncio.CancelledError:
        return highest

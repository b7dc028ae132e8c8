"""Thirty-two sessions of one project at once: made and prompted at the same moment, and streaming."""

from __future__ import annotations

import asyncio

from bench.lab import Lab, Server
from bench.model import prompt
from bench.stats import median, percentile
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
        before = server.cpu()
        seen = await driver.turns(sessions, prompt(deltas=count, delay=SPACING_SECONDS))
        spent = server.cpu() - before
        peak.cancel()
        highest = max(await peak, server.memory())
    check_count(seen, count)
    received = [delta[1] for turn in seen for delta in turn.deltas]
    prompted = min(turn.prompted_ns for turn in seen)
    latencies = [latency for turn in seen for latency in turn.latencies_ms]
    seconds = (max(received) - prompted) / 1e9
    return {
        "32 streams, delivered from the prompts on (deltas/s)": len(received) / seconds,
        "32 streams, latency p95 (ms)": percentile(latencies, 95),
        "32 streams, server CPU (s)": spent * 300 / count,
        "32 streams, memory peak (MB)": highest,
    }


async def at_once(lab: Lab) -> dict[str, float]:
    """The first thing that a server is asked to do, so nothing of the project is known yet."""
    async with lab.server() as server, driving(server.client) as driver:
        before = server.cpu()
        sessions = await asyncio.gather(*(driver.session() for _ in range(STREAMS)))
        seen = await driver.turns(sessions, prompt())
        spent = server.cpu() - before
    check_count(seen, 1)
    return {
        "32 new sessions at once, model asked p50 (ms)": median([turn.asked_ms for turn in seen]),
        "32 new sessions at once, all turns ended (ms)": max(turn.wall_ms for turn in seen),
        "32 new sessions at once, server CPU (s)": spent,
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

"""What the server adds to each delta on its way to a client of `/event`, and how many it can carry."""

from __future__ import annotations

from bench.lab import Lab
from bench.model import prompt
from bench.stats import median, percentile
from bench.turns import check_count, driving

SPACING_SECONDS = 0.005


async def measure(lab: Lab) -> dict[str, float]:
    count = lab.count(2000)
    async with lab.server() as server, driving(server.client) as driver:
        session = await driver.session()
        await driver.turn(session)
        before = server.cpu()
        seen = await driver.turn(session, prompt(deltas=count, delay=SPACING_SECONDS))
        spent = server.cpu() - before
    check_count([seen], count)
    return {
        "added latency per delta at 5 ms spacing p50 (ms)": median(seen.latencies_ms),
        "added latency per delta at 5 ms spacing p95 (ms)": percentile(seen.latencies_ms, 95),
        "added latency per delta at 5 ms spacing p99 (ms)": percentile(seen.latencies_ms, 99),
        "server CPU for 2000 deltas (s)": spent * 2000 / count,
    }


async def flood(lab: Lab) -> dict[str, float]:
    count = lab.count(5000)
    async with lab.server() as server, driving(server.client) as driver:
        session = await driver.session()
        await driver.turn(session)
        seen = await driver.turn(session, prompt(deltas=count))
    check_count([seen], count)
    relayed = (seen.deltas[-1][1] - seen.deltas[0][0]) / 1e9  # from the first sent to the last received
    return {
        "5000 deltas flat out, whole turn (deltas/s)": count / (seen.wall_ms / 1000),
        "5000 deltas flat out, relay (deltas/s)": count / relayed,
    }

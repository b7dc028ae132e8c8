"""The smallest turn: one prompt, one delta."""

from __future__ import annotations

from bench.lab import Lab
from bench.stats import median
from bench.turns import check_count, driving


async def measure(lab: Lab) -> dict[str, float]:
    async with lab.server() as server, driving(server.client) as driver:
        session = await driver.session()
        await driver.turn(session)
        seen = [await driver.turn(session) for _ in range(lab.count(30))]
    check_count(seen, 1)
    return {
        "one-delta turn, wall p50 (ms)": median([each.wall_ms for each in seen]),
        "prompt until the model is asked p50 (ms)": median([each.asked_ms for each in seen]),
    }

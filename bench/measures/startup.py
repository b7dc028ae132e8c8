"""From the start of the process to an answer, a page, a whole turn; on a home that is already set up."""

from __future__ import annotations

import time

from bench.lab import Lab
from bench.turns import driving


async def measure(lab: Lab) -> dict[str, float]:
    async with lab.server() as server:
        health = server.ready_ms
        async with driving(server.client) as driver:
            await driver.turn(await driver.session())
            turn = time.perf_counter() - server.began
    async with lab.server(path="/") as server:
        page = server.ready_ms
    return {
        "start to 200 on /global/health (ms)": health,
        "start to first page (ms)": page,
        "start until the first turn has ended (s)": turn,
    }

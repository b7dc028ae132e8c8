"""From the start of the process to an answer, a page, a turn; on an empty home, then on one set up."""

from __future__ import annotations

import time

from bench.lab import Lab, Server
from bench.turns import driving


async def measure(lab: Lab) -> dict[str, float]:
    async with lab.server(empty_home=True) as server:
        first = server.ready_ms
        first_turn = await _turn_ended(server)
    async with lab.server() as server:
        health = server.ready_ms
        turn = await _turn_ended(server)
    async with lab.server(path="/") as server:
        page = server.ready_ms
    return {
        "first start to 200 on /global/health (ms)": first,
        "first start until the first turn has ended (s)": first_turn,
        "start to 200 on /global/health (ms)": health,
        "start to first page (ms)": page,
        "start until the first turn has ended (s)": turn,
    }


async def _turn_ended(server: Server) -> float:
    """Seconds from the start of the process to the end of a turn in a new session."""
    async with driving(server.client) as driver:
        await driver.turn(await driver.session())
        return time.perf_counter() - server.began

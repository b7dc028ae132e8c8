"""Memory and idle work of the whole process tree, listening and after one turn, light and heavy provider."""

from __future__ import annotations

import asyncio

from bench.lab import Lab, Server
from bench.targets import OPENAI_COMPATIBLE
from bench.turns import driving


async def measure(lab: Lab) -> dict[str, float]:
    async with lab.server() as server:
        await server.client.http.get("/session")  # what is loaded after it listens is there then
        listening = server.memory()
        light = await _after_a_turn(server)
        idle = await _idle(server, lab.count(30))
    heavy = light
    if lab.target.heavy_npm != OPENAI_COMPATIBLE:
        async with lab.server(npm=lab.target.heavy_npm) as server:
            heavy = await _after_a_turn(server)
    return {
        "memory listening (MB)": listening,
        "memory after one turn (MB)": light,
        "memory after one turn, ours through litellm (MB)": heavy,
        "idle, processor time (% of a core)": idle,
    }


async def _idle(server: Server, seconds: int) -> float:
    before = server.cpu()
    await asyncio.sleep(seconds)
    return (server.cpu() - before) / seconds * 100


async def _after_a_turn(server: Server) -> float:
    async with driving(server.client) as driver:
        await driver.turn(await driver.session())
    return server.memory()

"""One prompt that takes two hundred steps, and a thousand: does the time of a step or the memory grow?"""

from __future__ import annotations

import asyncio
from itertools import pairwise

from bench.client import Client
from bench.lab import Lab
from bench.model import prompt
from bench.stats import median
from bench.targets import OURS
from bench.turns import TurnFailed
from tests.loopback.script import ToolUse

STEPS = 200
MANY = 1000
EDGE = 20
"""Steps at the beginning and at the end whose times are compared."""


async def measure(lab: Lab) -> dict[str, float]:
    steps = lab.count(STEPS)
    async with lab.server() as server:
        times = await _step_times(server.client, steps)
    spans = [(after - before) / 1e6 for before, after in pairwise(times)]
    edge = min(EDGE, len(spans) // 3)
    return {
        "200 steps, first ones (ms per step)": median(spans[1 : edge + 1]),
        "200 steps, last ones (ms per step)": median(spans[-edge:]),
        "200 steps, last to first (ratio)": median(spans[-edge:]) / median(spans[1 : edge + 1]),
    }


async def endurance(lab: Lab) -> dict[str, float]:
    """Ours alone: OpenCode would need many minutes for it."""
    if lab.target is not OURS:
        return {}
    async with lab.server() as server:
        await _step_times(server.client, lab.count(MANY) // 2)  # caches and the allocator fill up first
        early = server.memory()
        await _step_times(server.client, lab.count(MANY))
        return {"1000 steps, memory gained (MB)": server.memory() - early}


async def _step_times(client: Client, steps: int) -> list[int]:
    """When each step of a new session ended, in nanoseconds."""
    uses = [ToolUse("todowrite", {"todos": _todos(number)}) for number in range(steps)]
    session = str((await client.create_session(title="bench"))["id"])
    times: list[int] = []
    async with client.events() as events, asyncio.timeout(590):
        await client.prompt_async(session, prompt(tools=uses))
        async for event in events:
            part = event.properties.get("part", {})
            if event.type == "message.part.updated" and part.get("type") == "step-finish":
                times.append(event.received_ns)
            elif event.type == "session.error":
                raise TurnFailed(f"the turn failed: {event.properties.get('error')}")
            elif event.type == "session.idle" and event.session_id == session:
                return times
    raise TurnFailed("the event stream ended")


def _todos(number: int) -> list[dict[str, str]]:
    return [{"content": f"thing {number}", "status": "pending", "priority": "low"}]

"""A step with one tool call, snapshots on, in a repository of two thousand files."""

from __future__ import annotations

from collections.abc import Sequence

from bench.lab import Lab
from bench.model import prompt
from bench.project import file, line
from bench.stats import median
from bench.turns import Driver, driving
from tests.loopback.script import ToolUse

EDITED = 7


async def measure(lab: Lab) -> dict[str, float]:
    calls = range(lab.count(20) + 1)
    edited = str(file(lab.project, EDITED))
    reads = [ToolUse("read", {"filePath": str(file(lab.project, number))}) for number in calls]
    bashes = [ToolUse("bash", {"command": f"echo {n}", "description": "Print a number"}) for n in calls]
    edits = [ToolUse("edit", _replace(edited, index)) for index in calls]
    async with lab.server() as server, driving(server.client) as driver:
        await driver.warm_up()
        return {
            "read tool step (ms per call)": await per_call(driver, reads),
            "bash tool step (ms per call)": await per_call(driver, bashes),
            "edit tool step (ms per call)": await per_call(
                driver, edits, before=[ToolUse("read", {"filePath": edited})]
            ),
        }


async def per_call(driver: Driver, uses: Sequence[ToolUse], before: Sequence[ToolUse] = ()) -> float:
    """(a turn with the calls - the same turn without them) / number of calls, after one call to warm up."""
    session = await driver.session()
    first, *rest = uses
    await driver.turn(session, prompt(tools=[*before, first]))
    without = median([(await driver.turn(session, prompt(tools=before))).wall_ms for _ in range(3)])
    seen = await driver.turn(session, prompt(tools=[*before, *rest]))
    return (seen.wall_ms - without) / len(rest)


def _replace(path: str, index: int) -> dict[str, str]:
    old = line(EDITED, index)
    return {"filePath": path, "oldString": old, "newString": f"{old}  # changed"}

"""A step with one tool call, snapshots on, in a repository of two thousand files."""

from __future__ import annotations

from collections.abc import Sequence

from bench.lab import Lab
from bench.model import prompt
from bench.project import file, line
from bench.stats import median
from bench.targets import OURS
from bench.turns import Driver, driving
from tests.loopback.script import ToolUse

EDITED = 7
IGNORED = 50_000


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


async def ignored(lab: Lab) -> dict[str, float]:
    """The same bash step where git ignores fifty thousand files that a program makes again, by default
    settings: what it costs to look for ignored files that are kept."""
    (lab.project / "package.json").write_text("{}\n")
    (lab.project / ".gitignore").write_text("node_modules/\n.env\n")
    (lab.project / ".env").write_text("KEY=value\n")
    for number in range(IGNORED):
        path = lab.project / "node_modules" / f"package_{number // 50:04}" / f"module_{number:05}.js"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"export const number = {number};\n")
    calls = range(lab.count(20) + 1)
    bashes = [ToolUse("bash", {"command": f"echo {n}", "description": "Print a number"}) for n in calls]
    async with lab.server() as server, driving(server.client) as driver:
        await driver.warm_up()
        return {"bash tool step beside 50,000 ignored files (ms per call)": await per_call(driver, bashes)}


async def confined(lab: Lab) -> dict[str, float]:
    """Ours alone: OpenCode has no sandbox. The same command outside of it and in it."""
    if lab.target is not OURS:
        return {}
    calls = range(lab.count(40) + 1)
    bashes = [ToolUse("bash", {"command": f"echo {n}", "description": "Print a number"}) for n in calls]
    taken = {}
    for sandbox in ("off", "offline"):
        async with lab.server(config={"sandbox": sandbox}) as server, driving(server.client) as driver:
            await driver.warm_up()
            taken[sandbox] = await per_call(driver, bashes)
    return {
        "bash tool step, no sandbox (ms per call)": taken["off"],
        "bash tool step, bubblewrap (ms per call)": taken["offline"],
        "bubblewrap adds (ms per call)": taken["offline"] - taken["off"],
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

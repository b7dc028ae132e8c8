"""What a step costs in a large repository, and how the store grows with many steps."""

from __future__ import annotations

import asyncio
import os
import time
import zlib
from pathlib import Path

from bench import project
from bench.lab import Lab
from bench.measures.tools import per_call
from bench.model import prompt
from bench.stats import median
from bench.targets import OURS
from bench.turns import TurnFailed, driving
from sessions.changes.snapshots.snapshot import SnapshotStore
from tests.loopback.script import ToolUse

STEPS = 1000
FILES = 10
BLOCK = 512


async def snapshot(lab: Lab) -> dict[str, float]:
    """A command that changes nothing, in fifty thousand files; of ours also the snapshots around it alone."""
    large = lab.large_project()
    figures = {"bash step, nothing changed, 50k files (ms)": await _step(lab, large)}
    if lab.target is OURS:
        looks = await asyncio.to_thread(_looks, lab, large)
        figures["its snapshots before and after (ms)"] = looks
    return figures


async def growth(lab: Lab) -> dict[str, float]:
    """Ours alone: OpenCode keeps whole trees, and cleans up by the week."""
    if lab.target is not OURS:
        return {}
    steps = lab.count(STEPS)
    async with lab.server() as server, driving(server.client) as driver:
        await driver.warm_up()
        session = await driver.session()
        await server.client.http.post("/settings/store/clean")
        before = _size(lab)
        contents = _contents(lab.project, steps)
        await driver.turn(session, prompt(tools=[_change(lab.project, number) for number in range(steps)]))
        for number in range(FILES):
            if project.file(lab.project, number).read_bytes() != contents[number - FILES]:
                raise TurnFailed("the files are not as the steps left them")
        await server.client.http.post("/settings/store/clean")
        grown = _size(lab) - before
    compressed = sum(len(zlib.compress(content)) for content in set(contents))
    return {
        "store grown in 1000 steps (kB)": grown / 1000,
        "to the compressed contents (ratio)": grown / compressed,
    }


async def _step(lab: Lab, folder: Path) -> float:
    calls = range(lab.count(20) + 1)
    uses = [ToolUse("bash", {"command": f"echo {n}", "description": "Print a number"}) for n in calls]
    async with lab.server(folder=folder) as server, driving(server.client) as driver:
        await driver.warm_up()
        return await per_call(driver, uses)


def _looks(lab: Lab, folder: Path) -> float:
    """Two snapshots, as they are taken around a command, when nothing happened since the one before."""
    store = SnapshotStore(lab.folder / "looks", folder)
    known, taken = store.track(), []
    for _ in range(lab.count(30)):
        began = time.perf_counter()
        if {store.track().hash, store.track().hash} != {known.hash}:
            raise TurnFailed("something changed in between")
        taken.append((time.perf_counter() - began) * 1000)
    return median(taken)


def _change(folder: Path, number: int) -> ToolUse:
    path = project.file(folder, number % FILES)
    return ToolUse("bash", {"command": f"sed -i '1s/.*/step = {number}/' {path}", "description": "Edit"})


def _contents(folder: Path, steps: int) -> list[bytes]:
    """What each step leaves in its file."""
    rests = [project.file(folder, number).read_bytes().partition(b"\n")[2] for number in range(FILES)]
    return [b"step = %d\n" % number + rests[number % FILES] for number in range(steps)]


def _size(lab: Lab) -> int:
    """What the stores take on the disk, in bytes."""
    place = lab.home / ".local" / "share" / "opencode-web" / "snapshots"
    entries = [path for found in os.walk(place) for path in map(Path(found[0]).joinpath, (*found[2], "."))]
    return sum(path.lstat().st_blocks * BLOCK for path in entries)

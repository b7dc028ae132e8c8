"""Reading back a conversation, going on in a long one, and taking edits back and forth."""

from __future__ import annotations

import time
from collections.abc import Awaitable

from bench.conversations import imported
from bench.lab import Lab
from bench.measures.tools import EDITED
from bench.model import prompt
from bench.project import file, line
from bench.stats import median
from bench.turns import Driver, TurnFailed, driving
from tests.loopback.script import ToolUse

TURNS = 48
LONG = 10_000
EDITS = 20


async def measure(lab: Lab) -> dict[str, float]:
    async with lab.server() as server, driving(server.client) as driver:
        session = await driver.session()
        for _ in range(lab.count(TURNS)):
            await driver.turn(session)
        taken = [await _timed(server.client.messages(session)) for _ in range(lab.count(30))]
        if len(await server.client.messages(session)) != 2 * lab.count(TURNS):
            raise TurnFailed("messages are missing")
        size = len((await server.client.http.get(f"/session/{session}/message")).content)
    return {"history of 96 messages p50 (ms)": median(taken), "history of 96 messages (KB)": size / 1000}


async def long(lab: Lab) -> dict[str, float]:
    """A turn of three steps in a session of ten thousand messages, and in a new one."""
    async with lab.server() as server, driving(server.client) as driver:
        session = await imported(lab, server, "long", lab.count(LONG))
        await driver.warm_up()
        short = await _three_steps(lab, driver, await driver.session())
        taken = await _three_steps(lab, driver, session)
    return {
        "a turn of three steps, 10,000 messages (ms)": taken,
        "a turn of three steps, 10,000 messages to a new session (ratio)": taken / short,
    }


async def _three_steps(lab: Lab, driver: Driver, session: str) -> float:
    """Milliseconds, the first such turn of the session left out."""
    uses = [ToolUse("read", {"filePath": str(file(lab.project, number))}) for number in range(2)]
    turns = [await driver.turn(session, prompt(tools=uses)) for _ in range(4)]
    return median([turn.wall_ms for turn in turns[1:]])


async def undo(lab: Lab) -> dict[str, float]:
    paths = [file(lab.project, EDITED + number) for number in range(EDITS)]
    old, new = line(EDITED, 0), "value_of_the_edit = 1"
    edits = [
        ToolUse(
            "edit",
            {"filePath": str(path), "oldString": line(EDITED + number, 0), "newString": f"{new}  # {number}"},
        )
        for number, path in enumerate(paths)
    ]
    reads = [ToolUse("read", {"filePath": str(path)}) for path in paths]
    reverts, unreverts = [], []
    async with lab.server() as server, driving(server.client) as driver:
        await driver.warm_up()
        session = await driver.session()
        await driver.turn(session, prompt(tools=[*reads, *edits]))
        asked = (await server.client.messages(session))[0]["info"]["id"]
        for _ in range(lab.count(10)):
            reverts.append(await _timed(server.client.revert(session, asked)))
            _expect(old in paths[0].read_text(), "the revert left the edit in the file")
            unreverts.append(await _timed(server.client.unrevert(session)))
            _expect(new in paths[0].read_text(), "the unrevert did not bring the edit back")
    return {
        f"revert of {EDITS} edits (ms)": median(reverts),
        f"unrevert of {EDITS} edits (ms)": median(unreverts),
    }


async def _timed(work: Awaitable[object]) -> float:
    began = time.perf_counter()
    await work
    return (time.perf_counter() - began) * 1000


def _expect(met: bool, otherwise: str) -> None:
    if not met:
        raise TurnFailed(otherwise)

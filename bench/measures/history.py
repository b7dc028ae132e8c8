"""Reading back a conversation, and taking an edit back and forth."""

from __future__ import annotations

import time
from collections.abc import Awaitable

from bench.lab import Lab
from bench.measures.tools import EDITED
from bench.model import prompt
from bench.project import file, line
from bench.stats import median
from bench.turns import TurnFailed, driving
from tests.loopback.script import ToolUse

TURNS = 48


async def measure(lab: Lab) -> dict[str, float]:
    async with lab.server() as server, driving(server.client) as driver:
        session = await driver.session()
        for _ in range(lab.count(TURNS)):
            await driver.turn(session)
        taken = [await _timed(server.client.messages(session)) for _ in range(lab.count(30))]
        if len(await server.client.messages(session)) != 2 * lab.count(TURNS):
            raise TurnFailed("messages are missing")
    return {"history of 96 messages p50 (ms)": median(taken)}


async def undo(lab: Lab) -> dict[str, float]:
    path = file(lab.project, EDITED)
    old, new = line(EDITED, 0), "value_of_the_edit = 1"
    edit = ToolUse("edit", {"filePath": str(path), "oldString": old, "newString": new})
    reverts, unreverts = [], []
    async with lab.server() as server, driving(server.client) as driver:
        await driver.warm_up()
        session = await driver.session()
        await driver.turn(session, prompt(tools=[ToolUse("read", {"filePath": str(path)}), edit]))
        asked = (await server.client.messages(session))[0]["info"]["id"]
        for _ in range(lab.count(10)):
            reverts.append(await _timed(server.client.revert(session, asked)))
            _expect(old in path.read_text(), "the revert left the edit in the file")
            unreverts.append(await _timed(server.client.unrevert(session)))
            _expect(new in path.read_text(), "the unrevert did not bring the edit back")
    return {"revert (ms)": median(reverts), "unrevert (ms)": median(unreverts)}


async def _timed(work: Awaitable[object]) -> float:
    began = time.perf_counter()
    await work
    return (time.perf_counter() - began) * 1000


def _expect(met: bool, otherwise: str) -> None:
    if not met:
        raise TurnFailed(otherwise)

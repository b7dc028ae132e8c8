"""Edits that are worked out beside each other."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

from agents.toolkit.shared.proposals import allowed
from tests.agents.tools.context import DirectContext


async def test_a_plan_that_takes_long_holds_up_no_other_tool(context: DirectContext) -> None:
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
    go = threading.Event()
    asked = allowed(context, ["a"], lambda: go.wait(20), lambda _: {}, lambda _: False)
    waiting = asyncio.create_task(asked)
    await asyncio.sleep(0)
    await asyncio.to_thread(go.set)
    assert (await waiting)[0], "the other went first"

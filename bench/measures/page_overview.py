"""The overview of five hundred sessions, thirty of which stream."""

from __future__ import annotations

from bench.browser import browsing
from bench.lab import Lab
from bench.model import prompt
from bench.stats import median
from bench.targets import OURS
from bench.turns import check_count, driving
from tests.loopback.script import ToolUse

SESSIONS = 500
RUNNING = 30
SPACING_SECONDS = 0.02
TIMES = 3


async def measure(lab: Lab) -> dict[str, float]:
    if lab.target is not OURS:
        return {}  # it has no such page
    count = lab.count(500)
    opened = []
    async with lab.server() as server, driving(server.client) as driver, browsing(lab, server) as browser:
        sessions = [await driver.session() for _ in range(lab.count(SESSIONS))]
        running = sessions[:RUNNING]
        await driver.turns(running, prompt())
        address = f"{browser.app.url}/?choose"
        for _ in range(TIMES):
            async with browser.tab() as tab:
                await tab.open(address, "bench")
                opened.append((await tab.tell("firstPaint()"), await tab.tell("last()")))
        async with browser.tab() as tab:
            await tab.open(address, "bench")
            await tab.tell("forget()")
            before, work = server.cpu(), await tab.work()
            uses = [ToolUse("bash", {"command": f"echo {n}", "description": f"Step {n}"}) for n in range(3)]
            seen = await driver.turns(running, prompt(deltas=count, delay=SPACING_SECONDS, tools=uses))
            await tab.quiet()
            spent, done = server.cpu() - before, await tab.work() - work
            longest, shift = await tab.tell("longest()"), await tab.tell("shift()")
    check_count(seen, count)
    return {
        "overview of 500 sessions, first paint (ms)": median([paint for paint, _ in opened]),
        "overview of 500 sessions, quiet (ms)": median([last for _, last in opened]),
        "overview, 30 turns, main thread busy (s)": done.tasks,
        "overview, 30 turns, longest task (ms)": longest,
        "overview, 30 turns, layout shift": shift,
        "overview, 30 turns, server CPU (s)": spent,
    }

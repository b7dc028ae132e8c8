"""The changes of sixty files in the panel beside the conversation; ours alone."""

from __future__ import annotations

import shlex

from bench.browser import browsing
from bench.lab import Lab
from bench.model import prompt
from bench.project import file, line
from bench.stats import median
from bench.targets import OURS
from bench.turns import driving
from tests.loopback.script import ToolUse

FILES = 60
REPEATS = 10
BUTTON = "[data-toggle=review]"
PANEL = "#review"


async def measure(lab: Lab) -> dict[str, float]:
    if lab.target is not OURS:
        return {}
    names = " ".join(shlex.quote(str(file(lab.project, number))) for number in range(FILES))
    command = f"sed -i 's/^value_00[0-9]_of_.*/changed = 1/' {names}"
    edit = prompt(tools=[ToolUse("bash", {"command": command, "description": "Edit"})])
    async with lab.server() as server, driving(server.client) as driver, browsing(lab, server) as browser:
        session = await driver.session()
        await driver.turn(session, edit)
        first = line(0, 0).partition(" ")[0]
        await browser.warm_up(session, first)
        async with browser.tab() as tab:
            await tab.open(browser.app.address(session), first)
            arrived = await tab.tell("firstPaint()")
            opened = []
            for _ in range(lab.count(REPEATS)):
                await tab.page.click(BUTTON)
                opened.append(await tab.shown_after_click(BUTTON, first))
            await tab.tell("forget()")
            await tab.tell(f"scroll('{PANEL}')")
            await tab.quiet()
            shift = await tab.tell("shift()")
    return {
        "page with a diff of 60 files, first paint (ms)": arrived,
        "diff of 60 files, click to painted p50 (ms)": median(opened),
        "diff of 60 files, layout shift while scrolled": shift,
    }

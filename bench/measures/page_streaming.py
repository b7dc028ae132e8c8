"""A page that shows an answer while it is written: alone, under typing hands, and when it stood open long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bench.browser import Browsing, Tab, browsing
from bench.lab import Lab
from bench.model import prompt
from bench.project import file
from bench.stats import median, percentile
from bench.turns import Driver, Seen, check_count, driving
from tests.loopback.script import ToolUse

SPACING_SECONDS = 0.005
PARAGRAPH = 25
KEYS = 100
KEY_SECONDS = 0.06
TURNS = 50
TURN_DELTAS = 300
COMPARED = 5
"""Turns that are summed up at the end and on a fresh page: one alone is a matter of luck."""


@asynccontextmanager
async def stage(lab: Lab) -> AsyncIterator[tuple[Driver, Browsing, str]]:
    """A session with one turn, which a page has shown."""
    async with lab.server() as server, driving(server.client) as driver, browsing(lab, server) as browser:
        session = await driver.session()
        first = await driver.turn(session)
        await browser.warm_up(session, str(first.deltas[0][0]))
        yield driver, browser, session


async def measure(lab: Lab) -> dict[str, float]:
    count = lab.count(2000)
    async with stage(lab) as (driver, browser, session), browser.tab() as tab:
        await tab.open(browser.app.address(session))
        await tab.tell("forget()")
        before = await tab.work()
        seen = await _streamed(driver, session, tab, count)
        spent = await tab.work() - before
        latencies = await tab.painted([sent for sent, _ in seen.deltas])
        shift = await tab.tell("shift()")
    return {
        "2000 deltas, delta to painted p50 (ms)": median(latencies),
        "2000 deltas, delta to painted p95 (ms)": percentile(latencies, 95),
        "2000 deltas, main thread busy (% of the answer)": 100 * spent.tasks / (count * SPACING_SECONDS),
        "2000 deltas, script (ms per delta)": 1000 * spent.script / count,
        "2000 deltas, style and layout (ms per delta)": 1000 * (spent.style + spent.layout) / count,
        "2000 deltas, layout shift": shift,
    }


async def typing(lab: Lab) -> dict[str, float]:
    """Keys while an answer comes, which is as long as it takes to type them."""
    count = lab.count(KEYS)
    async with stage(lab) as (driver, browser, session), browser.tab() as tab:
        await tab.open(browser.app.address(session))
        await tab.page.click(browser.app.prompt)
        await tab.page.keyboard.type("warm")
        await tab.tell("forget()")
        deltas = int(count * KEY_SECONDS / SPACING_SECONDS)
        answer = asyncio.create_task(_streamed(driver, session, tab, deltas))
        for _ in range(count):
            await tab.page.keyboard.press("x")
            await asyncio.sleep(KEY_SECONDS)
        await answer
        taken = await tab.tell("keys")
    return {
        "key to painted while streaming p50 (ms)": median(taken),
        "key to painted while streaming p95 (ms)": percentile(taken, 95),
    }


async def standing(lab: Lab) -> dict[str, float]:
    """What a delta costs the page that has stood open for fifty turns, beside a page opened then."""
    path = str(file(lab.project, 0))
    text = prompt(
        deltas=TURN_DELTAS, delay=0.001, paragraph=PARAGRAPH, tools=[ToolUse("read", {"filePath": path})]
    )
    async with stage(lab) as (driver, browser, session):
        async with browser.tab() as tab:
            await tab.open(browser.app.address(session))
            for _ in range(lab.count(TURNS) - COMPARED):
                await driver.turn(session, text)
            after = await _cost(driver, session, tab, text)
        async with browser.tab() as tab:
            await tab.open(browser.app.address(session))
            fresh = await _cost(driver, session, tab, text)
    return {
        "page after 50 turns, script and style (ms per delta)": after,
        "page opened then, script and style (ms per delta)": fresh,
        "page after 50 turns to page opened then (ratio)": after / fresh,
    }


async def _streamed(driver: Driver, session: str, tab: Tab, deltas: int) -> Seen:
    """A turn whose last delta has been painted."""
    text = prompt(deltas=deltas, delay=SPACING_SECONDS, paragraph=PARAGRAPH)
    seen = await driver.turn(session, text)
    check_count([seen], deltas)
    await tab.until_painted(seen.deltas[-1][0])
    return seen


async def _cost(driver: Driver, session: str, tab: Tab, text: str) -> float:
    before = await tab.work()
    for _ in range(COMPARED):
        seen = await driver.turn(session, text)
        await tab.until_painted(seen.deltas[-1][0])
    spent = await tab.work() - before
    return 1000 * (spent.script + spent.style) / (COMPARED * TURN_DELTAS)

"""Opening the page of a session in a browser that has nothing cached; a time is the middle one of three."""

from __future__ import annotations

from bench.browser import Browsing, browsing
from bench.conversations import imported, last_words
from bench.lab import Lab
from bench.stats import median

SIZES = (20, 300, 1500)
TIMES = 3


async def measure(lab: Lab) -> dict[str, float]:
    found = {}
    async with lab.server() as server:
        sessions = {size: await imported(lab, server, f"open{size}", lab.count(size)) for size in SIZES}
        async with browsing(lab, server) as browser:
            await browser.warm_up(sessions[SIZES[0]], last_words(sessions[SIZES[0]]))
            for size, session in sessions.items():
                opened = [await _opened(browser, session) for _ in range(TIMES)]
                for label in opened[0]:
                    found[f"page of {size} messages, {label}"] = median([each[label] for each in opened])
    return found


async def _opened(browser: Browsing, session: str) -> dict[str, float]:
    async with browser.tab() as tab:
        await tab.open(browser.app.address(session), last_words(session))
        return {
            "first paint (ms)": await tab.tell("firstPaint()"),
            "quiet (ms)": await tab.tell("last()"),
            "requests": tab.traffic.requests,
            "received (KB)": tab.traffic.kilobytes(),
            "without typefaces (KB)": tab.traffic.kilobytes(without="Font"),
            "layout shift": await tab.tell("shift()"),
        }

"""From one session to another and back, by a click in a page that has shown both."""

from __future__ import annotations

from bench.browser import browsing
from bench.conversations import imported, last_words
from bench.lab import Lab
from bench.stats import median, percentile

MESSAGES = 300
CLICKS = 20


async def measure(lab: Lab) -> dict[str, float]:
    taken = []
    async with lab.server() as server:
        sessions = [await imported(lab, server, name, lab.count(MESSAGES)) for name in ("alpha", "omega")]
        async with browsing(lab, server) as browser, browser.tab() as tab:
            for session in sessions:
                await tab.open(browser.app.address(session), last_words(session))
            for number in range(lab.count(CLICKS)):
                session = sessions[number % 2]
                shown = await tab.shown_after_click(browser.app.switch(session), last_words(session))
                taken.append(shown)
                await tab.quiet()
    return {
        "switch between sessions of 300 messages p50 (ms)": median(taken),
        "switch between sessions of 300 messages p95 (ms)": percentile(taken, 95),
    }

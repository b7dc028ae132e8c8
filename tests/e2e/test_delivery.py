"""How a page comes to the browser: in few requests, small, and nothing twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.stage import Stage, Tab
from tests.loopback.script import Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

REQUESTS = 20
KILOBYTES = 100
FONT_KILOBYTES = 60
"""The sans and the mono; the text of the page is there before them."""


class Traffic:
    """What a page asks for: the address of each request, and the bytes that came over the line for it."""

    def __init__(self) -> None:
        self.addresses: dict[str, str] = {}
        self.bytes: dict[str, int] = {}

    async def listen(self, context: BrowserContext, tab: Tab) -> None:
        devtools = await context.new_cdp_session(tab.page)
        devtools.on("Network.requestWillBeSent", self._asked)
        devtools.on("Network.loadingFinished", self._came)
        await devtools.send("Network.enable")
        await devtools.send("Network.clearBrowserCache")

    def forget(self) -> None:
        self.addresses.clear()
        self.bytes.clear()

    def _asked(self, event: dict[str, Any]) -> None:
        self.addresses[event["requestId"]] = event["request"]["url"]

    def _came(self, event: dict[str, Any]) -> None:
        if event["requestId"] in self.addresses:  # not what the page before asked for
            self.bytes[event["requestId"]] = int(event["encodedDataLength"])

    def kilobytes(self, *, fonts: bool) -> float:
        """Of the typefaces, or of all the rest."""
        return sum(size for size, address in self.told() if address.endswith(".woff2") == fonts) / 1000

    def told(self) -> list[tuple[int, str]]:
        return sorted((size, self.addresses.get(key, "")) for key, size in self.bytes.items())


async def reloaded(tab: Tab) -> None:
    await tab.page.reload()
    await tab.connected()
    await expect(tab.page.locator("#review .review-head")).to_have_count(1)
    await tab.page.wait_for_load_state("networkidle")


async def test_a_session_comes_in_few_requests(home: Path, project: Path, context: BrowserContext) -> None:
    """In a list of one: each other session adds a hundred bytes."""
    async with Stage(home, project) as stage:
        await few_requests(stage, context)


async def few_requests(stage: Stage, context: BrowserContext) -> None:
    stage.plays(*[Turn(text=f"# Answer {number}\n\n" + "Some words. " * 60) for number in range(5)])
    session = await stage.session("delivered")
    for number in range(5):
        await stage.client.prompt(session, f"Question {number}")
    tab = await stage.tab(context, session)
    await tab.page.wait_for_load_state("networkidle")  # that it was read is told once
    traffic = Traffic()
    await traffic.listen(context, tab)
    await reloaded(tab)
    assert len(traffic.addresses) <= REQUESTS, "\n".join(traffic.addresses.values())
    assert traffic.kilobytes(fonts=False) <= KILOBYTES, traffic.told()
    assert traffic.kilobytes(fonts=True) <= FONT_KILOBYTES, traffic.told()

    traffic.forget()
    await reloaded(tab)
    assert [one for one in traffic.told() if "/static/" in one[1] and one[0]] == []


@pytest.mark.long
async def test_what_is_heavy_comes_when_it_is_used(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context, await stage.session("heavy"))
    scripts: list[str] = []
    tab.page.on("request", lambda request: scripts.append(request.url))
    await reloaded(tab)
    assert [url for url in scripts if "xterm" in url] == []
    await tab.page.keyboard.press("Control+`")
    await expect(tab.page.locator(".xterm")).to_be_visible()
    assert [url for url in scripts if "xterm.mjs" in url] != []

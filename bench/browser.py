"""A real Chromium on the pages of a server, and what it has to tell about them."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, CDPSession, Page, ViewportSize, Worker, async_playwright
from playwright.async_api import Error as BrowserError

from bench.apps import App, app
from bench.lab import Lab, Server

BROWSERS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
"""The first is the same engine without a window of its own."""
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")
WIDE: ViewportSize = {"width": 1440, "height": 900}
PATIENCE_MS = 120_000
POLL_SECONDS = 0.1
PAUSE_MS = 1000
"""A page in which nothing has happened for so long is quiet."""
Event = Mapping[str, Any]
WATCH = Path(__file__).with_name("page.js").read_text()


class NoBrowser(Exception):
    """None of the programs is installed."""


class Traffic:
    """The requests of a page, and the bytes that came over the wire for those that ended: headers too."""

    def __init__(self, page: Page, devtools: CDPSession) -> None:
        self.requests = 0
        self._bytes: Counter[str] = Counter()
        self._pending: dict[str, tuple[str, str]] = {}
        page.on("worker", self._began)
        devtools.on("Network.requestWillBeSent", self._sent)
        devtools.on("Network.responseReceived", self._answered)
        devtools.on("Network.loadingFinished", self._finished)
        devtools.on("Network.loadingFailed", self._failed)

    @property
    def pending(self) -> bool:
        """Whether an answer is awaited; streams of events never end."""
        return bool(self._pending)

    def kilobytes(self, *, without: str = "") -> float:
        return sum(count for kind, count in self._bytes.items() if kind != without) / 1000

    def _sent(self, event: Event) -> None:
        if event["request"]["url"].startswith("http"):
            self.requests += 1
            self._pending[event["requestId"]] = (event.get("type", "Other"), event["request"]["url"])

    def _answered(self, event: Event) -> None:
        if event["response"]["mimeType"] == "text/event-stream":
            self._ended(event)

    def _finished(self, event: Event) -> None:
        if request := self._ended(event):
            self._bytes[request[0]] += int(event["encodedDataLength"])

    def _failed(self, event: Event) -> None:
        self._ended(event)

    def _began(self, worker: Worker) -> None:
        """Of the script of a worker the page is not told that it came."""
        self._pending = {key: value for key, value in self._pending.items() if value[1] != worker.url}

    def _ended(self, event: Event) -> tuple[str, str] | None:
        return self._pending.pop(event["requestId"], None)


@dataclass(frozen=True, slots=True)
class Work:
    """Seconds of processor time of the page's main thread: the clock's would be other programs' too."""

    tasks: float
    script: float
    style: float
    layout: float

    def __sub__(self, before: Work) -> Work:
        return Work(
            self.tasks - before.tasks,
            self.script - before.script,
            self.style - before.style,
            self.layout - before.layout,
        )


class Tab:
    """One page in a context of its own, so with a cache of its own."""

    def __init__(self, page: Page, devtools: CDPSession, traffic: Traffic) -> None:
        self.page = page
        self.traffic = traffic
        self._devtools = devtools

    async def open(self, url: str, text: str = "") -> None:
        """Return when the page is quiet, after it has shown the text."""
        await self.page.goto(url, wait_until="commit")
        if text:
            await self._until(f"bench.visible({json.dumps(text)})")
        await self.quiet()

    async def quiet(self) -> None:
        """Return when nothing has happened for a while, and no answer is awaited."""
        await self._until(
            f"bench.firstPaint() && bench.pause() > {PAUSE_MS}", lambda: not self.traffic.pending
        )

    async def tell(self, expression: str) -> Any:
        """What `bench` of page.js answers: `firstPaint()`."""
        return await self.page.evaluate(f"bench.{expression}")

    async def work(self) -> Work:
        answer = await self._devtools.send("Performance.getMetrics")
        found = {metric["name"]: metric["value"] for metric in answer["metrics"]}
        names = ("TaskDuration", "ScriptDuration", "RecalcStyleDuration", "LayoutDuration")
        return Work(*(found[name] for name in names))

    async def until_painted(self, stamp: int) -> None:
        await self._until(f"bench.stamps.at(-1)?.[0] >= '{stamp}'")

    async def painted(self, stamps: list[int]) -> list[float]:
        """Milliseconds from each of the model's stamps until the page had painted it or a later one."""
        seen = [(int(stamp), at) for stamp, at in await self.tell("stamps")]
        return [next(at for newest, at in seen if newest >= stamp) - stamp / 1e6 for stamp in stamps]

    async def shown_after_click(self, selector: str, text: str) -> float:
        """Milliseconds from a click on the element until the text can be seen."""
        return await self._shown(self.page.click(selector), text)

    async def shown_after_press(self, key: str, text: str) -> float:
        """The same from a key; the text may be in a shadow root."""
        return await self._shown(self.page.keyboard.press(key), text, pierces=True)

    async def shown_after_paste(self, pasted: str, text: str) -> float:
        """The same from a text that is pasted."""
        return await self._shown(self.page.keyboard.insert_text(pasted), text)

    async def _shown(self, act: Coroutine[Any, Any, None], text: str, *, pierces: bool = False) -> float:
        await self.page.evaluate("([text, pierces]) => bench.want(text, pierces)", [text, pierces])
        await act
        return float(await self._until("bench.shown()"))

    async def _until(self, expression: str, met: Callable[[], bool] = lambda: True) -> Any:
        """What it gives once that is something, and `met` too. Asked again and again: what both apps allow
        scripts forbids Playwright's own way to wait."""
        async with asyncio.timeout(PATIENCE_MS / 1000):
            while True:
                with suppress(BrowserError):  # between two pages there is nobody to ask
                    found = await self.page.evaluate(f"globalThis.bench && ({expression})")
                    if found and met():
                        return found
                await asyncio.sleep(POLL_SECONDS)


@dataclass(frozen=True, slots=True)
class Browsing:
    """A browser at one server."""

    app: App
    _browser: Browser

    @asynccontextmanager
    async def tab(self) -> AsyncIterator[Tab]:
        """An empty page whose context is signed in, and has nothing cached."""
        context = await self._browser.new_context(viewport=WIDE)
        context.set_default_timeout(PATIENCE_MS)
        await self.app.sign_in(context)
        await context.add_init_script(f"{{{WATCH}}}")
        page = await context.new_page()
        devtools = await context.new_cdp_session(page)
        traffic = Traffic(page, devtools)
        await devtools.send("Network.enable")
        await devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
        yield Tab(page, devtools, traffic)
        await context.close()

    async def warm_up(self, session: str, text: str = "") -> None:
        """Open a session once: what a server does for its first page only is in no figure."""
        async with self.tab() as tab:
            await tab.open(self.app.address(session), text)


@asynccontextmanager
async def browsing(lab: Lab, server: Server) -> AsyncIterator[Browsing]:
    """Raises NoBrowser."""
    path = next(filter(None, (shutil.which(name) for name in BROWSERS)), None)
    if path is None:
        raise NoBrowser(f"not installed: {' or '.join(BROWSERS)}")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=path, args=ARGUMENTS, env={**os.environ, "HOME": str(lab.home)}
        )
        try:
            yield Browsing(await app(lab, server), browser)
        finally:
            await browser.close()

"""A stage for the browser: the real server, a scripted model behind it, and contexts that are logged in."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from dataclasses import dataclass
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any, Self

import httpx
from playwright.async_api import BrowserContext, Locator, Page, Route, expect

from bench.client import Client
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import EXHAUSTED, Body, Turn
from tests.server import Server, model_config

UNFOLDED = """
const key = `strip:${location.pathname.split("/")[4]}`;
if (origin !== "null" && key.startsWith("strip:ses_") && !sessionStorage.getItem(key)) {
  for (const items of [sessionStorage, localStorage]) items.setItem(key, "yes");
}
"""
"""Before a page loads a session for the first time: the strip above its prompt was unfolded once."""


class Stage:
    """`config` is merged over that of a loopback model with everything allowed."""

    def __init__(self, home: Path, project: Path, *, title: str | None = "A title", **config: Any) -> None:
        self.home = home
        self.project = project
        self.model = OpenAIServer(self._next, title=title)
        self.server = Server(home, project)
        self._config = config
        self._turns: deque[Turn] = deque()
        self._pages: list[Page] = []

    async def __aenter__(self) -> Self:
        await self.model.__aenter__()
        self.server.config = self.configuration()
        await asyncio.to_thread(self.server.start)
        self.client: Client = self.server.client()
        await self.log_in()
        return self

    async def log_in(self) -> None:
        """For tabs that are opened from now on; again after the server was started again."""
        self._cookie, self.home_path = await _logged_in(self.server)

    async def __aexit__(self, *_: object) -> None:
        """Its pages go first: what one of them asks a server that ends is no fault."""
        for page in self._pages:
            await page.close()
        await self.client.http.aclose()
        await asyncio.to_thread(self.server.stop)
        await self.model.__aexit__()

    def configuration(self) -> dict[str, Any]:
        return model_config(self.model.base_url, **self._config)

    def plays(self, *turns: Turn) -> None:
        """What the model answers next, its gates shut; what was left of before is dropped."""
        self.model.shut_gates()
        self._turns = deque(turns)

    def _next(self, _: Body) -> Turn:
        return self._turns.popleft() if self._turns else Turn(fault=EXHAUSTED)

    async def tab(self, context: BrowserContext, session_id: str = "", *, folded: bool = False) -> Tab:
        """A page of the session, connected; without one the page for a new session. Unless `folded` somebody
        unfolded the strip above its prompt before."""
        name, value = self._cookie
        await context.add_cookies([{"name": name, "value": value, "url": self.server.url}])
        tab = Tab(await context.new_page(), self)
        self._pages.append(tab.page)
        if not folded:
            await tab.page.add_init_script(UNFOLDED)
        await tab.open(session_id)
        return tab

    async def session(self, title: str) -> str:
        return str((await self.client.create_session(title))["id"])


class Tab:
    """One page with the places a person looks at."""

    def __init__(self, page: Page, stage: Stage) -> None:
        self.page = page
        self._stage = stage
        self.prompt = page.locator("#prompt")
        self.messages = page.locator("#messages")
        self.stop = page.locator("#stop")
        self.connection = page.locator("#connection")
        self.permissions = page.locator(".permission")
        self.review = page.locator("#review")
        self.dialog = page.locator("#dialog dialog")

    async def open(self, session_id: str = "") -> None:
        await self.page.goto(f"{self._stage.server.url}{self._stage.home_path}s/{session_id}")
        await self.connected()
        # What is chosen in a picker before htmx has wired it is chosen for nobody.
        unsettled = ".picker:is(.htmx-request, .htmx-swapping, .htmx-settling, :has(.htmx-added))"
        await expect(self.page.locator(unsettled)).to_have_count(0)

    @property
    def session_id(self) -> str:
        return self.page.url.rpartition("/")[2]

    async def connected(self) -> None:
        """The page is there, not one that is about to be left, and is told what happens."""
        there = "body:not(:has(#main[aria-busy]))"
        await self.page.locator(f"{there} #connection[data-state=connected]").wait_for(state="attached")

    async def send(self, text: str) -> None:
        """Over an open dialog nobody can write."""
        await expect(self.page.locator("dialog[open]")).to_have_count(0)
        await self.prompt.fill(text)
        await self.prompt.press("Enter")

    async def idle(self) -> None:
        """The turn has ended and the page says so; what was sent has arrived."""
        arrived = "body:not(:has(#composer.htmx-request))"
        await self.page.locator(f"{arrived} #activity[data-busy=false]").wait_for(state="attached")

    async def undo(self, prompt: int) -> None:
        """Open the dialog of "Undo from here" at a prompt of the page."""
        await self.page.get_by_role("button", name="Undo from here").nth(prompt).click()
        await self.dialog.wait_for()

    async def choose(self, kind: str, value: str) -> None:
        """An agent, a `provider/model` or a variant in the popover."""
        await self.page.locator(f"#{kind}-picker").click()
        option = self.page.locator(f"#picker-{kind} [data-value='{value}']").last
        async with self.page.expect_response(re.compile("/pickers/cho")):
            await option.click()
        await expect(self.page.locator(f"#choice [name={kind}]")).to_have_value(value)

    def item(self, session_id: str) -> Locator:
        """The row of a session in the sidebar."""
        return self.page.locator(f"#{session_id}-item")

    def tool(self, text: str) -> Locator:
        """The card of a tool call with this text in it."""
        return self.page.locator(".tool", has_text=text)


FRAMES = "() => new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen)))"


@dataclass(frozen=True, slots=True)
class Held:
    """Requests that stand still until `free` is set; `asked` is set by the first."""

    asked: asyncio.Event
    free: asyncio.Event


async def hold(within: Page | BrowserContext, address: str | re.Pattern[str]) -> Held:
    """Those to the address, from now on."""
    held = Held(asyncio.Event(), asyncio.Event())

    async def wait(route: Route) -> None:
        held.asked.set()
        await held.free.wait()
        await route.continue_()

    await within.route(address, wait)
    return held


async def ready(cards: Locator) -> None:
    """What asks has stood in its place for as long as a person needs to read it. The page looks for what has
    come at each frame: before that, nothing says that it is to wait."""
    await expect(cards.first).to_be_visible()
    await cards.page.evaluate(FRAMES)
    await expect(cards.and_(cards.page.locator("[data-unready]"))).to_have_count(0)


async def _logged_in(server: Server) -> tuple[tuple[str, str], str]:
    """The cookie (name, value) that the launch link gives, and the path of the opened project."""
    async with httpx.AsyncClient(base_url=server.url, trust_env=False) as client:
        answer = await client.get(server.launch_url)
        ((name, morsel),) = SimpleCookie(answer.headers["set-cookie"]).items()
        answer = await client.get("/")
    return (name, morsel.value), answer.headers["location"]

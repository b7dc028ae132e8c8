"""Where things are in the two web apps: ours, and OpenCode's, which its server brings along."""

from __future__ import annotations

import re
from base64 import b64encode, urlsafe_b64encode
from dataclasses import dataclass
from typing import Protocol

import httpx
from playwright.async_api import BrowserContext, Page

from bench.client import USER
from bench.lab import Lab, Server
from bench.targets import OURS

LINK = re.compile(r"^Open (\S+)", re.M)


class App(Protocol):
    """Selectors, and the addresses of pages."""

    @property
    def url(self) -> str:
        """Where its server is."""

    @property
    def prompt(self) -> str:
        """The field one writes into."""

    @property
    def picker(self) -> str:
        """The keys that open the picker of files."""

    @property
    def content(self) -> str:
        """Those of the search in the files; empty where there is none."""

    async def sign_in(self, context: BrowserContext) -> None: ...

    def address(self, session: str) -> str: ...

    def switch(self, session: str) -> str:
        """What to click for another session that has been open in this tab."""

    async def show_tree(self, page: Page) -> None:
        """While the picker lists a file."""

    def row(self, folder: str) -> str:
        """What to click in the tree for a folder of the first level."""


@dataclass(frozen=True, slots=True)
class Ours:
    url: str
    project: str
    cookies: dict[str, str]
    prompt: str = "#prompt"
    picker: str = "Control+p"
    content: str = "Control+Shift+f"

    async def sign_in(self, context: BrowserContext) -> None:
        await context.add_cookies([{"name": n, "value": v, "url": self.url} for n, v in self.cookies.items()])

    def address(self, session: str) -> str:
        return f"{self.url}/p/{self.project}/s/{session}"

    def switch(self, session: str) -> str:
        return f"#{session}-item a"

    async def show_tree(self, page: Page) -> None:
        await page.keyboard.press("Escape")
        await page.click("[data-side=files]")

    def row(self, folder: str) -> str:
        return f"#files-tree [data-path='{folder}']"


@dataclass(frozen=True, slots=True)
class OpenCodes:
    url: str
    password: str
    prompt: str = "[contenteditable=true]"
    picker: str = "Control+k"
    content: str = ""

    async def sign_in(self, context: BrowserContext) -> None:
        secret = b64encode(f"{USER}:{self.password}".encode()).decode()
        await context.set_extra_http_headers({"Authorization": f"Basic {secret}"})

    def address(self, session: str) -> str:
        return f"{self.url}{self._path(session)}"

    def switch(self, session: str) -> str:
        return f"a[href='{self._path(session)}']"

    async def show_tree(self, page: Page) -> None:
        await page.keyboard.press("Enter")  # it stands beside an opened file

    def row(self, folder: str) -> str:
        return f"button:has-text('{folder}')"

    def _path(self, session: str) -> str:
        return f"/server/{urlsafe_b64encode(self.url.encode()).decode().rstrip('=')}/session/{session}"


async def app(lab: Lab, server: Server) -> App:
    """The app of a running server."""
    url = str(server.client.http.base_url).rstrip("/")
    if lab.target is not OURS:
        return OpenCodes(url, server.client.password)
    found = LINK.search((lab.folder / "server.log").read_text())
    assert found is not None
    project = await server.client.get("/project/current")
    return Ours(url, project["id"], await _signed_in(found[1]))


async def _signed_in(link: str) -> dict[str, str]:
    """The cookies that a launch link gives, which works once."""
    async with httpx.AsyncClient(trust_env=False) as client:
        await client.get(link)
        return {cookie.name: cookie.value or "" for cookie in client.cookies.jar}

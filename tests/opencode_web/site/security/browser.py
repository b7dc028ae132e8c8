"""A browser's side of the real server: the cookie of a launch link, the pages' token, their socket."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
from websockets.asyncio.client import ClientConnection, connect

from tests.server import Server


class Browser(httpx.AsyncClient):
    """Logged in by cookie; `token` is what its pages send with a change."""

    token = ""

    @property
    def origin(self) -> str:
        return str(self.base_url).rstrip("/")

    async def change(self, path: str, method: str = "POST", /, **form: str) -> httpx.Response:
        """As htmx does it from a page."""
        headers = {"Origin": self.origin, "X-CSRF-Token": self.token, "HX-Request": "true"}
        return await self.request(method, path, headers=headers, data=form)

    def socket(self, path: str) -> connect:
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        headers = {"Cookie": cookies, "Origin": self.origin}
        return connect(self.origin.replace("http", "ws") + path, additional_headers=headers, max_size=None)


@asynccontextmanager
async def browsing(server: Server, launch_url: str = "") -> AsyncIterator[Browser]:
    """By the launch link of the server, which works once, or by another."""
    async with Browser(base_url=server.url, timeout=30, trust_env=False) as browser:
        assert (await browser.get(launch_url or server.launch_url)).status_code == 303
        page = await browser.get("/?choose")
        found = re.search(r'X-CSRF-Token&quot;: &quot;([^&]+)|X-CSRF-Token": "([^"]+)', page.text)
        assert found is not None
        browser.token = (found[1] or found[2]).encode().decode("unicode_escape")
        yield browser


async def link(browser: Browser) -> str:
    """Another launch link."""
    return str((await browser.change("/auth/launch")).json()["url"])


async def closed(socket: ClientConnection) -> int:
    """The code a socket is closed with."""
    await socket.wait_closed()
    return socket.close_code or 0

"""The sockets of the inbox and of terminals stand behind one guard."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from tests.opencode_web.site.security.browser import browsing, closed, link
from tests.server import Server, running

pytestmark = pytest.mark.asyncio


async def test_only_this_server_s_own_pages_may_listen(home: Path, project: Path) -> None:
    server = Server(home, project)
    async with running(server), browsing(server) as browser:
        async with browser.socket("/ws/inbox/") as socket:
            assert json.loads(await socket.recv())["waiting"] == []
        url = server.url.replace("http", "ws")
        cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
        strangers: tuple[dict[str, str], ...] = (
            {"Origin": server.url},
            {"Origin": "http://elsewhere.example", "Cookie": cookies},
            {"Cookie": cookies},
        )
        for path in ("/ws/inbox/", "/pty/pty_x/connect", "/api/pty/pty_x/connect"):
            for headers in strangers:
                with pytest.raises(InvalidStatus) as refused:
                    await connect(url + path, additional_headers=headers)
                assert refused.value.response.status_code == 403


async def test_signing_out_closes_what_is_open_and_holds_over_a_restart(home: Path, project: Path) -> None:
    server = Server(home, project)
    async with running(server), browsing(server) as browser, browsing(server, await link(browser)) as other:
        stolen = dict(browser.cookies)
        async with (
            browser.socket("/ws/inbox/") as socket,
            other.socket("/ws/inbox/") as others,
            browser.stream("GET", "/event") as events,
        ):
            lines = events.aiter_lines()
            assert (await anext(lines)).startswith("id: ")
            assert "server.connected" in await anext(lines)
            await socket.recv()
            await others.recv()
            assert (await browser.change("/logout")).headers["hx-redirect"] == "/login"
            assert await closed(socket) == 4401
            async with asyncio.timeout(10):
                async for _ in lines:
                    pass
            assert (await other.get("/session")).status_code == 200
        server.stop()
        server.start("--port", server.url.rpartition(":")[2])
        async with httpx.AsyncClient(base_url=server.url, cookies=stolen, trust_env=False) as thief:
            assert (await thief.get("/session")).status_code == 401
        assert (await other.get("/session")).status_code == 200

"""The sockets of the inbox and of terminals stand behind one guard (peers.md, rules 1, 3 and 4)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from tests.opencode_web.security.browser import browsing
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

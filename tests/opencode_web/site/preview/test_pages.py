"""The page around a preview, and the port behind it, of the real server."""

from __future__ import annotations

import asyncio
import html
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from django.test import AsyncClient

from tests.opencode_web.site.preview.test_guard import FRAME, SAME
from tests.opencode_web.site.security.browser import Browser, browsing
from tests.runtime.conftest import home, project
from tests.server import Server
from tests.sessions.talk import Talk

__all__ = ["home", "project"]
SERVE = """
import http.server, socket, sys
server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
socket.create_connection(("127.0.0.1", int(sys.argv[1]))).sendall(f"{server.server_port}\\n".encode())
server.serve_forever()
"""
PATIENCE = 30


@asynccontextmanager
async def served(home: Path, project: Path) -> AsyncIterator[tuple[Browser, str, int]]:
    """A browser, the address of a session, and the port of a web server in a terminal of its folder."""
    port: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        port.set_result(int(await reader.readline()))
        writer.close()

    server = Server(home, project)
    await asyncio.to_thread(server.start)
    client = server.client()
    try:
        async with browsing(server) as browser, await asyncio.start_server(hear, "127.0.0.1", 0) as door:
            session = await client.create_session("previewed")
            arguments = ["-c", SERVE, str(door.sockets[0].getsockname()[1])]
            await client.post("/pty", {"command": sys.executable, "args": arguments})
            address = f"/p/{session['projectID']}/s/{session['id']}/preview"
            yield browser, address, await asyncio.wait_for(port, PATIENCE)
    finally:
        await client.http.aclose()
        await asyncio.to_thread(server.stop)


@pytest.mark.django_db(transaction=True)
async def test_where_no_server_listens_there_is_none(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    page = await async_client.get(f"{talk.url}/preview?port=8000")
    assert "on the machine of the server alone" in page.content.decode()
    assert "iframe" not in page.content.decode()
    answer = await async_client.post(f"{talk.url}/preview/open", {"port": "8000"})
    assert answer.status_code == 422
    for port in ("0", "65536", "none", ""):
        assert (await async_client.post(f"{talk.url}/preview/open", {"port": port})).status_code == 404


async def test_a_port_is_opened_for_who_is_logged_in(home: Path, project: Path) -> None:
    async with served(home, project) as (browser, address, port):
        assert f"localhost:{port}" in (await browser.get(address)).text
        assert "<iframe" not in (await browser.get(f"{address}?port={port}")).text
        other = await browser.change(f"{address}/open", port=browser.origin.rpartition(":")[2])
        assert other.status_code == 422
        opened = await browser.change(f"{address}/open", port=str(port))
        assert opened.headers["hx-redirect"] == f"{address}?port={port}"
        page = await browser.get(opened.headers["hx-redirect"])
        found = re.search(r'data-source="([^"]+)"', page.text)
        assert found
        source = html.unescape(found[1])
        origin = source.partition("/.")[0]
        policy = page.headers["content-security-policy"]
        assert policy.startswith(f"frame-src {origin}; ")
        assert policy.endswith("frame-ancestors 'self'")
        async with httpx.AsyncClient(base_url=origin, trust_env=False) as frame:
            assert (await frame.get("/", headers=FRAME)).status_code == 401
            assert (await frame.get(source, headers=FRAME)).status_code == 303
            assert (await frame.get("/hello.py", headers=SAME)).text.startswith("def hello")
            assert (await browser.get(f"{origin}/hello.py", headers=SAME)).status_code == 401
            await browser.change("/logout")
            assert (await frame.get("/hello.py", headers=SAME)).status_code == 401

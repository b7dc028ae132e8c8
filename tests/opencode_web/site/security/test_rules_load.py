"""Bounded load, on loopback only: what a client sends too much of, and what it does not take."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from opencode_web.site.server import MAX_BODY
from sessions.core import bus
from tests.opencode_web.site.security.browser import browsing
from tests.server import Server, running

MEGABYTE = 1024 * 1024


def memory(server: Server) -> int:
    """The most that the process ever had resident, in bytes (proc(5))."""
    assert server.process is not None
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def spooled(server: Server) -> int:
    """Bytes in temporary files that the process holds open."""
    assert server.process is not None
    total = 0
    for descriptor in Path(f"/proc/{server.process.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # the server closed it meanwhile
            if "deleted" in os.readlink(descriptor):
                total += descriptor.stat().st_size
    return total


async def send(server: Server, head: str, pieces: int, *, chunked: bool = False) -> tuple[bytes, int]:
    """A request with that many megabytes of body; the status line, and what was spooled before the end."""
    address = urlsplit(server.url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write(head.encode())
    for _ in range(pieces):
        piece = b"x" * MEGABYTE
        writer.write(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
        await writer.drain()
    held = spooled(server)
    writer.write(b"0\r\n\r\n" if chunked else b"")
    line = await reader.readline()
    writer.close()
    return line, held


@pytest.mark.long
@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_that_is_too_large_is_refused_and_not_stored(
    home: Path, project: Path, chunked: bool
) -> None:
    server = Server(home, project, anew=True)
    async with running(server):
        before = memory(server)
        size = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {80 * MEGABYTE}"
        head = f"POST /session HTTP/1.1\r\nHost: {urlsplit(server.url).netloc}\r\n{size}\r\n\r\n"
        line, held = await send(server, head, 80, chunked=chunked)
        assert line.split()[1] == b"413"
        assert held <= MAX_BODY + MEGABYTE
        assert memory(server) - before < MAX_BODY


async def test_what_fits_goes_through_and_a_form_that_is_too_large_does_not(
    home: Path, project: Path
) -> None:
    server = Server(home, project, environ={"OPENCODE_WEB_DEMO": "1"})
    async with running(server) as client, browsing(server) as browser:
        session = await client.create_session()
        base = f"/p/{session['projectID']}/s/{session['id']}"
        large = "x" * (40 * MEGABYTE)
        assert (await browser.change(f"{base}/prompt", text=large)).status_code == 413
        assert (await browser.change(f"{base}/prompt", text=large[: 4 * MEGABYTE])).status_code == 422
        assert (await browser.change(f"{base}/rename", title="still here")).status_code == 200


@pytest.mark.long
async def test_fifty_sockets_at_once_are_served(home: Path, project: Path) -> None:
    server = Server(home, project)
    async with running(server) as client, browsing(server) as browser, AsyncExitStack() as stack:
        session = await client.create_session()
        path = f"/ws/p/{session['projectID']}/?session={session['id']}"
        sockets = [await stack.enter_async_context(browser.socket(path)) for _ in range(50)]
        first = await asyncio.gather(*(socket.recv() for socket in sockets))
        assert all("seq" in str(frame) for frame in first)
        await browser.change(f"/p/{session['projectID']}/s/{session['id']}/rename", title="seen by all")
        async with asyncio.timeout(30):
            for socket in sockets:
                while "seen by all" not in str(await socket.recv()):
                    pass


@pytest.fixture
def flood() -> Iterator[subprocess.Popen[str]]:
    argv = [sys.executable, "-m", "tests.opencode_web.site.security.flood"]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    yield process
    process.kill()
    process.communicate()


@pytest.mark.parametrize("upgrade", [False, True])
def test_a_reader_that_stands_still_is_cut_off_before_it_fills_the_memory(
    flood: subprocess.Popen[str], upgrade: bool
) -> None:
    assert flood.stdout is not None
    address = ("127.0.0.1", int(flood.stdout.readline()))
    asks = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    head = f"GET / HTTP/1.1\r\nHost: x\r\n{asks if upgrade else ''}Sec-WebSocket-Version: 13\r\n\r\n"
    with socket.create_connection(address) as still:
        still.sendall(head.encode())
        assert int(flood.stdout.readline()) < 32 * MEGABYTE


async def test_a_mailbox_has_an_end_and_its_reader_is_told() -> None:
    async with bus.subscribe(limit=3) as mailbox:
        for number in range(5):
            bus.publish(bus.Event("x", {"number": number}))
        assert [event.properties["number"] for event in await mailbox.take()] == [0, 1, 2]
        assert mailbox.overflowed

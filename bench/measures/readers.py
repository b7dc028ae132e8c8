"""Two hundred clients of `/event` while one session streams."""

from __future__ import annotations

import asyncio
import re
import time
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bench.client import USER, Client
from bench.lab import Lab
from bench.model import prompt
from bench.stats import percentile
from bench.turns import TurnFailed, driving

READERS = 200
SPACING_SECONDS = 0.02
GATHER_SECONDS = 60
STAMP = re.compile(rb"\d{19}")


class Reader(asyncio.Protocol):
    """Reads stamps out of the bytes as they come: parsing so many streams would measure ourselves."""

    def __init__(self, request: bytes, deltas: int) -> None:
        self.latencies_ms: list[float] = []
        self.connected = asyncio.Event()
        self.complete = asyncio.Event()
        self._request = request
        self._deltas = deltas
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        received = time.time_ns()
        *frames, self._rest = (self._rest + data).split(b"\n\n")
        for frame in frames:
            if b'"message.part.delta"' in frame:
                self.latencies_ms += [(received - int(stamp)) / 1e6 for stamp in STAMP.findall(frame)]
            elif b'"server.connected"' in frame:
                self.connected.set()
        if len(self.latencies_ms) >= self._deltas:
            self.complete.set()


async def measure(lab: Lab) -> dict[str, float]:
    count = lab.count(500)
    async with lab.server() as server, driving(server.client) as driver:
        session = await driver.session()
        await driver.turn(session)
        before = server.cpu()
        async with _reading(server.client, count) as readers:
            await driver.turn(session, prompt(deltas=count, delay=SPACING_SECONDS))
            async with asyncio.timeout(GATHER_SECONDS):
                await asyncio.gather(*(reader.complete.wait() for reader in readers))
        spent = server.cpu() - before
    if any(len(reader.latencies_ms) != count for reader in readers):
        raise TurnFailed("a reader got another number of deltas")
    latencies = [latency for reader in readers for latency in reader.latencies_ms]
    return {
        "200 readers of one stream, latency p95 (ms)": percentile(latencies, 95),
        "200 readers of one stream, server CPU (s)": spent,
    }


@asynccontextmanager
async def _reading(client: Client, deltas: int) -> AsyncIterator[list[Reader]]:
    url = client.http.base_url
    port = url.port or 80
    secret = b64encode(f"{USER}:{client.password}".encode()).decode()
    lines = ("GET /event HTTP/1.1", f"Host: {url.host}:{port}", f"Authorization: Basic {secret}", "", "")
    request = "\r\n".join(lines).encode()
    loop = asyncio.get_running_loop()
    opened = [
        await loop.create_connection(lambda: Reader(request, deltas), url.host, port) for _ in range(READERS)
    ]
    try:
        readers = [reader for _, reader in opened]
        await asyncio.gather(*(reader.connected.wait() for reader in readers))
        yield readers
    finally:
        for transport, _ in opened:
            transport.close()

"""A server that replays recorded bytes as the answer, cut where the test says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

OK = {"content-type": "text/event-stream"}


@dataclass
class Replay:
    """`pieces` are sent one by one, each flushed. With `open_end` the connection then stays open, without
    it the answer ends as HTTP says; `cut` ends it in the middle of HTTP's framing."""

    pieces: Sequence[bytes] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: OK)
    open_end: bool = False
    cut: bool = False
    base_url: str = ""
    requests: list[tuple[dict[str, str], Any]] = field(default_factory=list)
    connections: int = 0
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the client has gone before the answer was at its end."""

    @property
    def sent(self) -> Any:
        """The body of the last request."""
        return self.requests[-1][1]

    @property
    def sent_headers(self) -> dict[str, str]:
        return self.requests[-1][0]

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while await self._one(reader, writer):
                pass
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
        except (asyncio.IncompleteReadError, ConnectionError):
            return False
        lines = [line.partition(": ") for line in head.split("\r\n")[1:] if line]
        headers = {name.lower(): value for name, _, value in lines}
        body = json.loads(await reader.readexactly(int(headers["content-length"])))
        self.requests.append((headers, body))
        given = "".join(f"{name}: {value}\r\n" for name, value in self.headers.items())
        writer.write(f"HTTP/1.1 {self.status} X\r\n{given}transfer-encoding: chunked\r\n\r\n".encode())
        for piece in self.pieces:
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            await writer.drain()
        if self.cut:
            return False
        if self.open_end:
            await reader.read()
            self.left.set()
            return False
        writer.write(b"0\r\n\r\n")
        return True


@asynccontextmanager
async def replaying(*pieces: bytes, **given: Any) -> AsyncGenerator[Replay, None]:
    replay = Replay(pieces, **given)
    server = await asyncio.start_server(replay.answer, "127.0.0.1", 0)
    async with server:
        replay.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        yield replay
        server.close()


def sse(*events: object, end: str = "\n\n") -> bytes:
    """Events as `data:` lines; strings as they stand, the rest as JSON."""
    lines = (event if isinstance(event, str) else json.dumps(event, ensure_ascii=False) for event in events)
    return "".join(f"data: {line}{end}" for line in lines).encode()

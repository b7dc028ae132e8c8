"""A page on loopback that a browser is sent back to (RFC 8252, sections 7.3 and 8.3)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from urllib.parse import parse_qs, urlsplit

_HOST = "127.0.0.1"
_SECONDS = 10.0
_HEAD = (
    "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncache-control: no-store\r\n"
    "content-security-policy: default-src 'none'\r\nreferrer-policy: no-referrer\r\n"
    "connection: close\r\ncontent-length: {length}\r\n\r\n"
)
_PAGE = (
    "<!doctype html><html lang=en><meta charset=utf-8><title>opencode-web</title>"
    "<meta name=color-scheme content='light dark'><h1>{title}</h1><p>{text}</p></html>"
)


@dataclass(frozen=True, slots=True)
class Said:
    """What the browser is told."""

    status: str
    title: str
    text: str


NOTHING = Said("404 Not Found", "Not found", "There is nothing here.")

Respond = Callable[[dict[str, str]], Awaitable[Said]]


class Loopback:
    """Answers `GET path` by `respond`, which is given the query; everything else is answered and
    forgotten."""

    def __init__(self, path: str, respond: Respond) -> None:
        self._path = path
        self._respond = respond
        self._server: asyncio.Server | None = None

    async def listen(self, port: int) -> int:
        """The port, which the system chooses for 0. Raises OSError when it is taken."""
        self._server = await asyncio.start_server(self._connected, _HOST, port, limit=16_384)
        return int(self._server.sockets[0].getsockname()[1])

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            async with asyncio.timeout(_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
            said = await self._answer(head.partition(b"\r\n")[0].decode("latin-1"))
            page = _PAGE.format(title=escape(said.title), text=escape(said.text)).encode()
            async with asyncio.timeout(_SECONDS):
                writer.write(_HEAD.format(status=said.status, length=len(page)).encode() + page)
                await writer.drain()
        writer.close()

    async def _answer(self, line: str) -> Said:
        """For a request line."""
        method, _, rest = line.partition(" ")
        try:
            target = urlsplit(rest.rpartition(" ")[0])
            given = {name: values[0] for name, values in parse_qs(target.query).items()}
        except ValueError:
            return NOTHING
        if method != "GET" or target.path != self._path:
            return NOTHING
        return await self._respond(given)

"""What is beyond a sandbox's way out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from agents.toolkit.permission.errors import PermissionRejected
from agents.toolkit.sandbox.proxy import Place


@dataclass
class Outside:
    """A proxy that stands for the network: every host is behind it. `reached` has who was connected to, and
    `asked` what a person was asked, who says no to `refused` and takes `seconds` to say anything."""

    reached: list[str] = field(default_factory=list)
    asked: list[tuple[str, str, int]] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)
    seconds: float = 0.0

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[str]:
        """Its address."""
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        async with server:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        target = (await reader.readuntil(b"\r\n\r\n")).split(b" ")[1].decode()
        self.reached.append(target)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        writer.write(f"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{target} says: {head}".encode())
        writer.close()

    async def ask(self, permission: str, place: Place) -> None:
        self.asked.append((permission, place.host, place.port))
        await asyncio.sleep(self.seconds)
        if place.host in self.refused:
            raise PermissionRejected

"""Ports that programs of a sandbox listen on, and the ways to them that a person opened.

Nobody outside reaches the loopback of a sandbox. A way to a port is a listener on this machine's own loopback
which hands each connection on, by a socket that was made in there: whoever listens inside is reached, and
reaches nobody by it.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from agents.toolkit.sandbox.streams import Streams, joined
from sessions.core.above import Port

HERE = {socket.AF_INET: "127.0.0.1", socket.AF_INET6: "::1"}
_CONNECT_SECONDS = 10.0

Listening = tuple[int, socket.AddressFamily]
"""A port, and by which protocol it is reached."""
Inside = Callable[[socket.AddressFamily], Awaitable[socket.socket]]
"""Makes a socket in the sandbox."""


class NotThere(Exception):
    """Nobody listens there, or there can be no way to it; the text is for people."""


@dataclass(slots=True)
class Ports:
    """Those of one sandbox; of its event loop. `changed` is called when others are shown."""

    inside: Inside
    changed: Callable[[], None]
    _listening: dict[int, socket.AddressFamily] = field(default_factory=dict)
    _ways: dict[int, asyncio.Server] = field(default_factory=dict)

    def shown(self) -> tuple[Port, ...]:
        return tuple(Port(number, _number(self._ways.get(number))) for number in sorted(self._listening))

    def seen(self, listening: Iterable[Listening]) -> None:
        """These are listened on now, and no others. Who listens by both protocols is reached by the older."""
        before = self.shown()
        self._listening = dict(sorted(listening, key=lambda one: -one[1]))
        for number in self._ways.keys() - self._listening.keys():
            self._ways.pop(number).close()
        if self.shown() != before:
            self.changed()

    async def open(self, number: int) -> int:
        """A way to a port: by the same number where that is free. Raises NotThere."""
        if number not in self._listening:
            raise NotThere(f"Nothing listens on port {number} in the sandbox any more.")
        if number not in self._ways:
            self._ways[number] = await self._opened(number)
            self.changed()
        return _number(self._ways[number])

    def close(self, number: int) -> None:
        """End the way to a port; what is connected stays so."""
        if (way := self._ways.pop(number, None)) is not None:
            way.close()
            self.changed()

    async def _opened(self, number: int) -> asyncio.Server:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self._serve(number, (reader, writer))

        for wanted in (number, 0):
            with suppress(OSError):
                return await asyncio.start_server(serve, HERE[socket.AF_INET], wanted)
        raise NotThere("This machine has no free port.")

    async def _serve(self, number: int, outside: Streams) -> None:
        family = self._listening.get(number)
        try:
            if family is not None:
                await joined(outside, await self._connected(number, family))
        except (OSError, TimeoutError):
            pass  # who asked finds the connection closed, as with any server that does not answer
        finally:
            outside[1].close()

    async def _connected(self, number: int, family: socket.AddressFamily) -> Streams:
        made = await self.inside(family)
        try:
            made.setblocking(False)
            async with asyncio.timeout(_CONNECT_SECONDS):
                await asyncio.get_running_loop().sock_connect(made, (HERE[family], number))
            return await asyncio.open_connection(sock=made)
        except BaseException:
            made.close()
            raise


def _number(way: asyncio.Server | None) -> int:
    return int(way.sockets[0].getsockname()[1]) if way is not None else 0

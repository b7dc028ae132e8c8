"""A machine of its own on this one: a network namespace behind a cable that can be cut (ip-netns(8)). Needs
root."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from itertools import count

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
_numbers = count(1)


def refusal() -> str:
    """Why there can be none here; empty where there can."""
    if os.getuid() != 0 or shutil.which("ip") is None:
        return "network namespaces take root and ip(8)"
    done = subprocess.run(["ip", "netns", "list"], capture_output=True, check=False)
    return "" if done.returncode == 0 else done.stderr.decode().strip()


class Cable:
    """`here` and `there` are the addresses of its ends; what begins with `prefix` runs at the other one."""

    def __init__(self) -> None:
        number = next(_numbers)
        self._name = f"ocw{os.getpid() % 100_000}-{number}"
        self._end = f"{self._name}h"[:15]
        code = (os.getpid() * 32 + number) % (64 * 256)  # no other process has it, whatever was left behind
        network = f"10.{128 + code // 256}.{code % 256}"
        self.here, self.there = f"{network}.1", f"{network}.2"
        self.prefix = ["ip", "netns", "exec", self._name]

    def lay(self) -> None:
        other = f"{self._name}n"[:15]
        for command in (
            f"ip netns add {self._name}",
            f"ip link add {self._end} type veth peer name {other}",
            f"ip link set {other} netns {self._name}",
            f"ip address add {self.here}/24 dev {self._end}",
            f"ip netns exec {self._name} ip address add {self.there}/24 dev {other}",
            f"ip netns exec {self._name} ip link set lo up",
            f"ip netns exec {self._name} ip link set {other} up",
        ):
            _run(command)
        self.mend()

    def cut(self) -> None:
        """Nothing goes through, and neither end is told."""
        _run(f"ip link set {self._end} down")

    def mend(self) -> None:
        _run(f"ip link set {self._end} up")

    def remove(self) -> None:
        for command in (f"ip link delete {self._end}", f"ip netns delete {self._name}"):
            subprocess.run(command.split(), check=False, capture_output=True)


@asynccontextmanager
async def passage(host: str, reach: Callable[[], Awaitable[Streams]]) -> AsyncIterator[int]:
    """A port at `host` that leads to what `reach` opens."""

    async def lead(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            far_reader, far_writer = await reach()
            ways = [_copy(reader, far_writer), _copy(far_reader, writer)]
            await asyncio.gather(*ways, return_exceptions=True)
        writer.close()

    server = await asyncio.start_server(lead, host, 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while piece := await reader.read(1 << 16):
            writer.write(piece)
            await writer.drain()
    finally:
        writer.close()


def _run(command: str) -> None:
    subprocess.run(command.split(), check=True, capture_output=True)

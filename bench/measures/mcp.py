"""How long MCP servers take to be connected: ten at once against the slowest of them alone.

Ten that only wait show whether anything is done one after the other. Ten real ones share the machine's cores:
how long they take with nothing but pipes between is measured beside them.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Sequence
from pathlib import Path

from bench.client import Client
from bench.lab import Lab
from bench.npm import installed
from bench.turns import TurnFailed

COUNT = 10
START_SECONDS = 2.0
VERSION = "2026.8.31"
KINDS = ("filesystem", "everything", "memory")
MAX_LINE = 1 << 20
_ABOUT = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
_SHAKING = (
    ({"id": 0, "method": "initialize", "params": _ABOUT},),
    ({"method": "notifications/initialized"}, {"id": 1, "method": "tools/list"}),
)
"""What is sent, and each time answered."""
_SLOW = Path(__file__).parent.parent / "slow_server.py"


async def measure(lab: Lab) -> dict[str, float]:
    slow = [[sys.executable, "-I", "-S", str(_SLOW), str(START_SECONDS)]]
    real = [_command(kind, lab.project) for kind in KINDS]
    async with lab.server() as server:
        await server.client.get("/mcp")  # what the first look at servers costs is not theirs
        await _connect(server.client, "warm", real[:1])
        slow_alone, slow_ten = await _compare(server.client, "slow", slow)
        real_alone, real_ten = await _compare(server.client, "real", real)
    return {
        f"{COUNT} MCP servers that start in {START_SECONDS:g} s, all connected (s)": slow_ten,
        "the same against one of them alone (x)": slow_ten / slow_alone,
        f"{COUNT} real MCP servers, all connected (s)": real_ten,
        "the slowest of these alone (s)": real_alone,
        "the same ten with nothing but pipes between (s)": await _bare(_ten(real)),
    }


async def _compare(client: Client, name: str, commands: Sequence[list[str]]) -> tuple[float, float]:
    """Seconds of the slowest alone, and of ten at once."""
    alone = [
        await _connect(client, f"{name}-alone-{index}", [command]) for index, command in enumerate(commands)
    ]
    return max(alone), await _connect(client, f"{name}-ten", _ten(commands))


def _ten(commands: Sequence[list[str]]) -> list[list[str]]:
    return [commands[number % len(commands)] for number in range(COUNT)]


async def _connect(client: Client, name: str, commands: Sequence[list[str]]) -> float:
    """Seconds until servers are connected that a client adds at the same moment; then they are ended."""
    names = [f"{name}-{number}" for number in range(len(commands))]
    configs = [{"type": "local", "command": command, "timeout": 60_000} for command in commands]
    began = time.perf_counter()
    await asyncio.gather(
        *(
            client.post("/mcp", {"name": each, "config": config})
            for each, config in zip(names, configs, strict=True)
        )
    )
    taken = time.perf_counter() - began
    statuses = await client.get("/mcp")
    if wrong := {each: statuses.get(each) for each in names if statuses[each] != {"status": "connected"}}:
        raise TurnFailed(f"not connected: {wrong}")
    await asyncio.gather(*(client.post(f"/mcp/{each}/disconnect") for each in names))
    return taken


async def _bare(commands: Sequence[list[str]]) -> float:
    """Seconds until servers that are started side by side have all listed their tools."""
    began = time.perf_counter()
    await asyncio.gather(*(_listed(command) for command in commands))
    return time.perf_counter() - began


async def _listed(command: list[str]) -> None:
    process = await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, limit=MAX_LINE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        for number, messages in enumerate(_SHAKING):
            process.stdin.writelines(
                json.dumps({"jsonrpc": "2.0", **each}).encode() + b"\n" for each in messages
            )
            while json.loads(await process.stdout.readline()).get("id") != number:
                pass  # a notification
    finally:
        process.kill()
        await process.wait()


def _command(kind: str, project: Path) -> list[str]:
    """The program of an official server. Raises NotInstalled."""
    modules = installed(f"@modelcontextprotocol/server-{kind}", VERSION, os.environ)
    program = str(modules / ".bin" / f"mcp-server-{kind}")
    return [program, str(project)] if kind == "filesystem" else [program]

"""The end of the server is the end of all that it has started, however stubborn, and however it ends."""

from __future__ import annotations

import asyncio
import os
import select
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.agents.servers.mcp.watching import RAW
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn
from tests.programs import pypi
from tests.runtime.servers import ready
from tests.server import PATIENCE, Server, model_config, running, until

DEAF = "trap '' TERM HUP INT"
FOREVER = f"{DEAF}; echo started > $STARTED; while :; do sleep 1000; done"
STUBBORN = f'{DEAF}; setsid sh -c "{FOREVER}" & {FOREVER}'
"""Hears no signal, and neither does what it has started in a session of its own; each says that it runs."""


def of(home: Path) -> Iterator[int]:
    """The processes of a server: all have its home in their environment."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"\0HOME={home}\0".encode() in b"\0" + (folder / "environ").read_bytes():
                yield int(folder.name)


def names(pids: list[int]) -> str:
    return "\n".join(Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ") for pid in pids)


def heard(started: int) -> None:
    """Return when one more says that it runs."""
    assert select.select([started], [], [], PATIENCE)[0]
    os.read(started, len("started\n"))


def gone(home: Path) -> None:
    """Return when all have ended. They are not ours: only descriptors tell of that."""
    while pids := list(of(home)):
        for pid in pids:
            with suppress(ProcessLookupError):
                watcher = os.pidfd_open(pid)
                assert select.select([watcher], [], [], PATIENCE)[0], names([pid])
                os.close(watcher)


def configured(environ: Mapping[str, str]) -> dict[str, Any]:
    """Two MCP servers, one of them stubborn (it is a server until its input ends), and a language server."""
    deaf = f'{DEAF}; setsid sh -c "{FOREVER}" >&2 & {sys.executable} -I -S {RAW}; {FOREVER}'
    clock = str(pypi("mcp-server-time", "mcp-server-time", environ))
    ruff = str(Path(sys.executable).with_name("ruff"))
    return {
        "mcp": {
            "deaf": {"type": "local", "command": ["sh", "-c", deaf]},
            "clock": {"type": "local", "command": [clock]},
        },
        "lsp": {"ruff": {"command": [ruff, "server"], "extensions": [".py"]}},
    }


@pytest.mark.proc
@pytest.mark.parametrize("ending", [pytest.param("SIGTERM", marks=pytest.mark.long), "SIGKILL"])
async def test_nothing_outlives_the_server(
    home: Path, project: Path, user_environ: Mapping[str, str], ending: str
) -> None:
    fifo = home / "started"
    os.mkfifo(fifo)
    started = os.open(fifo, os.O_RDWR)
    script = [
        Turn(tools=[ToolUse("read", {"filePath": "hello.py"})]),
        Turn(tools=[ToolUse("bash", {"command": STUBBORN})]),
    ]
    async with OpenAIServer(script) as model:
        config = model_config(model.base_url, **configured(user_environ))
        server = Server(home, project, config, {"STARTED": str(fifo)})
        async with running(server) as client, client.events() as events:
            await ready(client, "deaf_echo", "clock_get_current_time")
            # What a person starts in a session of its own from a terminal is meant to go on.
            await client.post("/pty", {"command": "sh", "args": ["-c", f"({FOREVER}) & {FOREVER}"]})
            session = await client.create_session(title="named")
            await client.prompt_async(session["id"], "Go.")
            while "connected" not in str(await client.get("/lsp")):
                await until(events, "lsp.updated")
            for _ in range(5):  # the MCP server itself is no such shell until its input ends
                await asyncio.to_thread(heard, started)
            running_now = names(list(of(home)))
            assert running_now.count("while :;") >= 6, running_now
            for program in ("mcp-server-time", "ruff server", "raw_server.py", "warden_process"):
                assert program in running_now
            if ending == "SIGTERM":
                assert await asyncio.to_thread(server.stop) == 0
            else:
                await asyncio.to_thread(server.kill)
            await asyncio.to_thread(gone, home)
    os.close(started)

"""The bridge as a process: what it starts, what it says where, and how it ends."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from opencode_web.cli import main
from tests.opencode_web.bridge.remote.test_launcher import COMMAND, alive
from tests.opencode_web.bridge.stage import bridged
from tests.server import NOWHERE, ROOT

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
CALL = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {"name": "opencode_health", "arguments": {}},
}


def environment(home: Path, command: str) -> dict[str, str]:
    return {"HOME": str(home), "OPENCODE_BASE_URL": NOWHERE, "OPENCODE_COMMAND": command}


def noting(home: Path, *command: str) -> str:
    """The command; the ids of its processes go into a file, one in a line."""
    return shlex.join(["sh", "-c", f'echo $$ >> {home}/pids; exec {shlex.join(command)} "$@"', "sh"])


def started(setup: str) -> int:
    """The process that the answer of opencode_setup names."""
    found = re.search(r"started by this bridge, process (\d+)", setup)
    assert found, setup
    return int(found[1])


def pids(home: Path) -> list[int]:
    return [int(line) for line in (home / "pids").read_text().split()]


@pytest.mark.long
async def test_our_own_server_is_started_restarted_and_ended(tmp_path: Path) -> None:
    (project := tmp_path / "project").mkdir()
    async with bridged({"HOME": str(tmp_path), "OPENCODE_BASE_URL": NOWHERE}, project) as tools:
        database = tmp_path / ".local/share/opencode-web/db.sqlite3"
        assert not database.exists()  # nothing is started before it is needed
        first = started(await tools.ok("setup"))
        assert database.exists()
        session_id = (await tools.ok("session_create", title="It stays")).split(" ")[0]
        os.kill(first, signal.SIGKILL)
        assert "It stays" in await tools.ok("session_get", sessionID=session_id)
        second = started(await tools.ok("setup"))
        assert alive(second)
    assert first != second
    assert not alive(first)
    assert not alive(second)


@pytest.mark.long
async def test_it_is_started_again_three_times_and_no_more(tmp_path: Path) -> None:
    async with bridged(environment(tmp_path, noting(tmp_path, *COMMAND)), ROOT) as tools:
        for started in range(1, 5):
            assert '"healthy": true' in await tools.ok("health")
            assert len(pids(tmp_path)) == started
            os.kill(pids(tmp_path)[-1], signal.SIGKILL)
        failed = await tools.fails("health")
    assert failed.startswith("unreachable: ")
    assert "3 times already" in failed
    assert len(pids(tmp_path)) == 4
    assert not any(map(alive, pids(tmp_path)))


async def test_a_wrong_password_is_told_and_no_other_server_is_started(tmp_path: Path) -> None:
    given = {
        **environment(tmp_path, ""),
        "OPENCODE_SERVER_PASSWORD": "right",
        "OPENCODE_SERVER_USERNAME": "me",
    }
    server = await _start([*COMMAND, "--hostname", "127.0.0.1", "--port", "0"], given)
    assert server.stderr is not None
    url = (await server.stderr.readline()).decode().split()[-1]
    try:
        wrong = {**given, "OPENCODE_BASE_URL": url, "OPENCODE_SERVER_PASSWORD": "wrong"}
        async with bridged({**wrong, "OPENCODE_COMMAND": noting(tmp_path, *COMMAND)}, ROOT) as tools:
            failed = await tools.fails("health")
    finally:
        server.kill()
        await server.wait()
    assert failed.startswith("auth: ")
    assert "OPENCODE_SERVER_PASSWORD" in failed
    assert not (tmp_path / "pids").exists()


async def test_a_signal_ends_it_and_the_server(tmp_path: Path) -> None:
    bridge = await _served(tmp_path)
    server = pids(tmp_path)[0]
    assert alive(server)
    bridge.send_signal(signal.SIGTERM)
    async with asyncio.timeout(20):
        assert await bridge.wait() == 0
    assert not alive(server)


async def test_output_is_the_protocols_alone_and_the_end_of_input_is_the_end(
    tmp_path: Path,
) -> None:
    bridge = await _served(tmp_path, b"this is no JSON\n\xff\xfe\n")
    assert bridge.stdout is not None
    assert bridge.stdin is not None
    bridge.stdin.close()
    async with asyncio.timeout(20):
        rest = await bridge.stdout.read()
        assert await bridge.wait() == 0
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in rest.splitlines())
    assert not alive(pids(tmp_path)[0])


async def test_what_is_no_message_is_answered_and_half_a_character_is_none(tmp_path: Path) -> None:
    bridge = await _served(tmp_path)
    assert bridge.stdin is not None
    assert bridge.stdout is not None
    call = {**CALL, "params": {"name": "opencode_\ud83d \\ud83d \U0001f600", "arguments": {}}}
    bridge.stdin.write(b"this is no JSON\n\n" + json.dumps(call).encode() + b"\n")
    async with asyncio.timeout(20):
        lines = [json.loads(await bridge.stdout.readline()) for _ in range(2)]
    assert (lines[0]["id"], lines[0]["error"]["code"]) == (None, -32700)
    assert r"opencode_� \\ud83d 😀" in lines[1]["error"]["message"]
    bridge.stdin.close()
    await bridge.wait()


@pytest.mark.parametrize("options", [["--url", "ftp://host"], ["--directory", "/no/such/folder"]])
def test_wrong_arguments_are_refused(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", *options]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("opencode-web: ")


async def _served(home: Path, before: bytes = b"") -> asyncio.subprocess.Process:
    """A bridge that has answered a call with a server it has started."""
    command = [sys.executable, "-m", "opencode_web", "mcp", "--directory", str(ROOT)]
    bridge = await _start(command, environment(home, noting(home, *COMMAND)))
    assert bridge.stdin is not None
    assert bridge.stdout is not None
    initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    lines = [json.dumps(message).encode() + b"\n" for message in (INITIALIZE, initialized, CALL)]
    bridge.stdin.write(before + b"".join(lines))
    async with asyncio.timeout(60):
        while json.loads(await bridge.stdout.readline()).get("id") != CALL["id"]:
            pass
    return bridge


async def _start(command: list[str], environ: Mapping[str, str]) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    kept = {"PATH": os.environ["PATH"], **environ}
    return await asyncio.create_subprocess_exec(
        *command, cwd=ROOT, env=kept, stdin=pipe, stdout=pipe, stderr=pipe
    )

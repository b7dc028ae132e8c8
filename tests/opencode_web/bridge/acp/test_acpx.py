"""Whole turns driven by acpx, a client of the Agent Client Protocol that nobody here wrote."""

from __future__ import annotations

import asyncio
import json
import shlex
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests import programs
from tests.loopback.script import ToolUse, Turn, Wait
from tests.opencode_web.bridge.acp.conftest import Stage
from tests.server import ROOT

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="session")]

SECONDS = 120


class Acpx:
    """Started for one prompt, in a home of its own; its output is messages of the protocol, one a line."""

    def __init__(self, command: list[str], stage: Stage, home: Path) -> None:
        agent = shlex.join([sys.executable, "-m", "opencode_web", "acp"])
        self._command = [*command, "--agent", agent, "--cwd", str(stage.project), "--format", "json"]
        ours = {name: text for name, text in stage.environ.items() if name != "HOME"}
        self._environ: Mapping[str, str] = {**ours, "HOME": str(home), "PYTHONPATH": str(ROOT)}

    @asynccontextmanager
    async def running(self, *options: str) -> AsyncIterator[asyncio.subprocess.Process]:
        process = await asyncio.create_subprocess_exec(
            *self._command, *options, env=dict(self._environ), limit=1 << 26,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        try:
            yield process
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()

    async def __call__(self, *options: str) -> list[dict[str, Any]]:
        """What it prints of a turn that ends well."""
        async with self.running(*options) as process, asyncio.timeout(SECONDS):
            out, errors = await process.communicate()
        assert process.returncode == 0, errors.decode()
        return [json.loads(line) for line in out.splitlines()]


@pytest.fixture
def acpx(stage: Stage, tmp_path: Path, user_environ: dict[str, str]) -> Acpx:
    return Acpx(programs.script("acpx", "dist/cli.js", user_environ), stage, tmp_path)


def edit(path: Path) -> Turn:
    given = {"filePath": str(path), "oldString": "one = 1", "newString": "one = 2"}
    return Turn(text="I will change it.", tools=[ToolUse("edit", given, "edit 1")])


def updates(messages: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    told = (message.get("params", {}).get("update", {}) for message in messages)
    return [update for update in told if update.get("sessionUpdate") == kind]


async def test_an_edit_that_is_allowed(stage: Stage, acpx: Acpx) -> None:
    file = stage.project / "allowed.py"
    file.write_text("one = 1\n")
    stage.plays(edit(file), Turn(text="Done."))
    told = await acpx("--approve-all", "exec", "Change it")
    assert file.read_text() == "one = 2\n"
    [asked] = [message for message in told if message.get("method") == "session/request_permission"]
    assert asked["params"]["toolCall"]["content"][0]["type"] == "diff"
    assert updates(told, "tool_call_update")[-1]["status"] == "completed"
    said = "".join(update["content"]["text"] for update in updates(told, "agent_message_chunk"))
    assert said == "I will change it.Done."
    assert told[-1]["result"]["stopReason"] == "end_turn"


async def test_an_edit_that_is_refused(stage: Stage, acpx: Acpx) -> None:
    file = stage.project / "refused.py"
    file.write_text("one = 1\n")
    stage.plays(edit(file), Turn(text="Then not."))
    async with acpx.running("--deny-all", "exec", "Change it") as process, asyncio.timeout(SECONDS):
        out, _ = await process.communicate()
    assert file.read_text() == "one = 1\n"
    told = [json.loads(line) for line in out.splitlines()]
    assert updates(told, "tool_call_update")[-1]["status"] == "failed"


async def test_a_turn_that_is_cancelled(stage: Stage, acpx: Acpx) -> None:
    stage.plays(Turn(text=["It begins", Wait("cancelled by acpx"), " and never ends"]))
    async with acpx.running("--approve-all", "exec", "Begin") as process, asyncio.timeout(SECONDS):
        assert process.stdout is not None
        lines: list[dict[str, Any]] = []
        while not updates(lines, "agent_message_chunk"):
            lines.append(json.loads(await process.stdout.readline()))
        process.send_signal(signal.SIGINT)
        rest, _ = await process.communicate()
        lines += [json.loads(line) for line in rest.splitlines()]
    assert any(message.get("method") == "session/cancel" for message in lines)
    [session] = {
        message["params"]["sessionId"] for message in lines if message.get("method") == "session/update"
    }
    assert session not in await stage.client.status()

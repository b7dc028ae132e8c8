"""The agent as a process: what it starts, what it says where, and how it ends."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import psutil
import pytest

from opencode_web.cli import main
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Turn
from tests.opencode_web.bridge.acp.conftest import Stage
from tests.opencode_web.bridge.acp.stage import editing
from tests.server import NOWHERE, ROOT, Server, model_config


@pytest.mark.asyncio(loop_scope="session")
async def test_what_is_no_message_is_answered_and_a_signal_ends_it(stage: Stage) -> None:
    pipe = asyncio.subprocess.PIPE
    command = [sys.executable, "-m", "opencode_web", "acp"]
    process = await asyncio.create_subprocess_exec(
        *command, cwd=ROOT, env=dict(stage.environ), stdin=pipe, stdout=pipe, stderr=pipe
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    unknown = {"jsonrpc": "2.0", "id": 1, "method": "session/unknown", "params": {}}
    ignored = {"jsonrpc": "2.0", "method": "$/unknown", "params": {}}
    text = "".join(f"{json.dumps(message)}\n" for message in (ignored, unknown))
    process.stdin.write(b"this is no JSON\n\n[1]\n" + text.encode())
    async with asyncio.timeout(60):
        lines = [json.loads(await process.stdout.readline()) for _ in range(3)]
        assert [(line["id"], line["error"]["code"]) for line in lines] == [
            (None, -32700), (None, -32600), (1, -32601)
        ]  # fmt: skip
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0
        assert await process.stdout.read() == b""
        assert b"Traceback" not in await process.stderr.read()


def test_a_wrong_address_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["acp", "--url", "ftp://host"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("opencode-web: ")


async def test_a_server_is_started_ended_and_found_again(tmp_path: Path) -> None:
    """Where none runs it is ours, and ends with us; one that dies is started again."""
    (project := tmp_path / "project").mkdir()
    async with OpenAIServer(lambda _: Turn(text="Done.")) as model:
        server = Server(tmp_path, project, model_config(model.base_url))
        environ = server.environment()
        del environ["OPENCODE_SERVER_PASSWORD"]
        environ["OPENCODE_BASE_URL"] = NOWHERE
        async with editing(environ) as editor:
            session = await editor.agent.new_session(cwd=str(project), mcp_servers=[])
            assert (await editor.prompt(session.session_id, "Do it")).stop_reason == "end_turn"
            first = child_of(editor.process.pid)
            os.kill(first, signal.SIGKILL)
            assert (await editor.prompt(session.session_id, "Again")).stop_reason == "end_turn"
            assert editor.person.said() == "Done.Done."
            second = child_of(editor.process.pid)
            assert second != first
        assert not psutil.pid_exists(second)


def child_of(pid: int) -> int:
    """The server that the process has started."""
    [child] = psutil.Process(pid).children()
    return child.pid

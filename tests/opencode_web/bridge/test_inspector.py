"""Our MCP server as the Inspector's command line has it, the client of those who make the protocol."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests import programs
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import HttpError, ToolUse, Turn
from tests.protocol.served import Script
from tests.server import PASSWORD, ROOT, Server, model_config, running

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="session")]

SECONDS = 120


class Inspector:
    """Starts the bridge anew for each method, as that command line does."""

    def __init__(self, command: list[str], home: Path, config: Path) -> None:
        self._command = [*command, "--cli", "--config", str(config), "--server", "ours", "--format", "json"]
        self._home = home

    async def __call__(self, method: str, *options: str, status: int = 0) -> Any:
        """What it prints. Fails for another exit status than is expected."""
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *self._command, "--method", method, *options,
            cwd=self._home, env={"HOME": str(self._home), "PATH": "/usr/bin:/bin"}, stdout=pipe, stderr=pipe,
        )  # fmt: skip
        async with asyncio.timeout(SECONDS):
            out, errors = await process.communicate()
        assert process.returncode == status, errors.decode()
        return json.loads(out)["result"]

    async def call(self, tool: str, *arguments: str, status: int = 0) -> str:
        given = [word for argument in arguments for word in ("--tool-arg", argument)]
        answer = await self("tools/call", "--tool-name", f"opencode_{tool}", *given, status=status)
        return str(answer["content"][0]["text"])


class Bench:
    """The Inspector, and the model behind our server."""

    def __init__(self, inspector: Inspector, script: Script, project: Path) -> None:
        self.inspector, self.script, self.project = inspector, script, project


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def bench(
    tmp_path_factory: pytest.TempPathFactory, user_environ: dict[str, str]
) -> AsyncIterator[Bench]:
    home, project = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("project")
    command = programs.script(
        "@modelcontextprotocol/inspector", "clients/launcher/build/index.js", user_environ
    )
    script = Script()
    async with OpenAIServer(script) as model:
        server = Server(home, project, model_config(model.base_url))
        async with running(server):
            environ = {
                "HOME": str(home),
                "PYTHONPATH": str(ROOT),
                "OPENCODE_BASE_URL": server.url,
                "OPENCODE_SERVER_PASSWORD": PASSWORD,
            }
            started = {
                "command": sys.executable,
                "args": ["-m", "opencode_web", "mcp", "--directory", str(project)],
                "env": environ,
            }
            config = home / "inspector.json"
            config.write_text(json.dumps({"mcpServers": {"ours": started}}))
            yield Bench(Inspector(command, home, config), script, project)


async def test_tools_are_listed(bench: Bench) -> None:
    tools = (await bench.inspector("tools/list"))["tools"]
    names = {tool["name"] for tool in tools}
    assert {"opencode_ask", "opencode_run", "opencode_project_init", "opencode_review_changes"} <= names
    assert all(tool["description"] and tool["inputSchema"]["type"] == "object" for tool in tools)


async def test_its_health_is_told(bench: Bench) -> None:
    assert '"healthy": true' in await bench.inspector.call("health")


async def test_a_turn_is_run_with_an_edit(bench: Bench) -> None:
    write = ToolUse("write", {"filePath": "made.txt", "content": "made\n"})
    bench.script.turns.extend([Turn(tools=[write]), Turn(text="It is done.")])
    told = await bench.inspector.call("run", "prompt=Do it")
    assert "It is done." in told
    assert "made.txt (added, +1 -0)" in told


async def test_a_file_is_read(bench: Bench) -> None:
    (bench.project / "a.txt").write_text("what is in it\n")
    assert "what is in it" in await bench.inspector.call("file_read", "path=a.txt")


async def test_what_the_provider_refuses_is_told(bench: Bench) -> None:
    bench.script.turns.extend([Turn(fault=HttpError(401, "no such key"))])
    told = await bench.inspector.call("ask", "prompt=Do it", status=5)
    assert "OPENCODE_SERVER_PASSWORD" not in told


async def test_resources_are_listed_and_read(bench: Bench) -> None:
    resources = (await bench.inspector("resources/list"))["resources"]
    assert len(resources) == 10
    [first, *_] = resources
    read = await bench.inspector("resources/read", "--uri", first["uri"])
    assert read["contents"][0]["uri"] == first["uri"]


async def test_there_are_no_templates_which_is_no_error(bench: Bench) -> None:
    assert (await bench.inspector("resources/templates/list"))["resourceTemplates"] == []


async def test_prompts_are_listed_and_given(bench: Bench) -> None:
    prompts = (await bench.inspector("prompts/list"))["prompts"]
    assert len(prompts) == 6
    prompt = next(one for one in prompts if not any(a.get("required") for a in one.get("arguments", [])))
    given = await bench.inspector("prompts/get", "--prompt-name", prompt["name"])
    assert given["messages"][0]["content"]["text"]

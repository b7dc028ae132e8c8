"""Servers that nobody here wrote, over stdio."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.agents.servers.mcp.watching import connected
from tests.programs import npm, pypi

pytestmark = pytest.mark.long

OFFICIAL = "@modelcontextprotocol/server-"


def local(program: Path, *arguments: str, **more: Any) -> dict[str, Any]:
    return {"type": "local", "command": [str(program), *arguments], **more}


def servers(environ: Mapping[str, str], project: Path) -> dict[str, dict[str, Any]]:
    """The configuration of each, started side by side as the app does."""
    everything = npm(f"{OFFICIAL}everything", "mcp-server-everything", environ)
    memory = {"MEMORY_FILE_PATH": str(project / "memory.jsonl")}
    return {
        "filesystem": local(npm(f"{OFFICIAL}filesystem", "mcp-server-filesystem", environ), str(project)),
        "everything": local(everything),
        "memory": local(npm(f"{OFFICIAL}memory", "mcp-server-memory", environ), environment=memory),
        "thinking": local(npm(f"{OFFICIAL}sequential-thinking", "mcp-server-sequential-thinking", environ)),
        "git": local(pypi("mcp-server-git", "mcp-server-git", environ), "--repository", str(project)),
        "time": local(pypi("mcp-server-time", "mcp-server-time", environ)),
        "fetch": local(pypi("mcp-server-fetch", "mcp-server-fetch", environ)),
    }


CALLS: dict[str, tuple[str, dict[str, Any], str]] = {
    "filesystem": ("read_text_file", {"path": "hello.txt"}, "hello from the project"),
    "everything": ("echo", {"message": "hello"}, "Echo: hello"),
    "memory": ("read_graph", {}, "entities"),
    "thinking": (
        "sequentialthinking",
        {"thought": "One.", "nextThoughtNeeded": False, "thoughtNumber": 1, "totalThoughts": 1},
        '"thoughtNumber": 1',
    ),
    "git": ("git_status", {"repo_path": "."}, "hello.txt"),
    "time": ("get_current_time", {"timezone": "Asia/Tokyo"}, "+09:00"),
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "hello.txt").write_text("hello from the project")
    return tmp_path


async def test_real_servers_are_connected_and_called(project: Path, user_environ: dict[str, str]) -> None:
    async def use(name: str, config: dict[str, Any]) -> None:
        async with connected(config, project, name) as server:
            assert server.connection.tools
            assert server.connection.offers.version
            if name == "fetch":  # it would want the network
                assert [prompt.name for prompt in server.connection.prompts] == ["fetch"]
                return
            tool, arguments, expected = CALLS[name]
            paths = {key: str(project / value) for key, value in arguments.items() if "path" in key}
            assert expected in await server.tool(tool, **{**arguments, **paths})

    await asyncio.gather(*(use(name, config) for name, config in servers(user_environ, project).items()))


async def test_all_that_everything_has_is_listed(project: Path, user_environ: dict[str, str]) -> None:
    async with connected(servers(user_environ, project)["everything"], project, "everything") as server:
        connection = server.connection
        assert {"echo", "get-sum"} <= {tool.name for tool in connection.tools}
        assert connection.prompts
        assert connection.resources
        assert connection.templates
        assert connection.instructions
        assert project.name in await server.tool("get-roots-list")  # the root that we told

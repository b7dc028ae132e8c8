"""`/mcp`, `/lsp`, `/formatter`, `/experimental/resource`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.protocol.conftest import repository
from tests.protocol.served import Served

pytestmark = pytest.mark.asyncio(loop_scope="session")

REFUSED = "OpenCode answers a bad body in a shape that its document does not have, and so do we"
LOCAL = {"type": "local", "command": ["run", "me"]}
REMOTE = {"type": "remote", "url": "http://127.0.0.1:9/mcp"}


@pytest_asyncio.fixture(loop_scope="session")
async def project(served: Served, tmp_path: Path) -> str:
    """With a server that is off and one that is on, which the user has written."""
    path = repository(tmp_path)
    servers = {"off": {**LOCAL, "enabled": False}, "on": REMOTE}
    await served.ask("PATCH", "/config", {"mcp": servers, "formatter": True}, directory=str(path))
    return str(path)


async def test_servers_that_are_not_connected_say_so(served: Served, project: str) -> None:
    found = await served.get("/mcp", directory=project)
    assert found["off"] == {"status": "disabled"}
    assert found["on"]["status"] == "failed"
    assert "does not connect" in found["on"]["error"]
    assert await served.get("/mcp") == {}


async def test_a_server_is_added_to_this_run_alone(served: Served, project: str) -> None:
    before = (Path(project) / "opencode.json").read_bytes()
    body = {"name": "new", "config": {**LOCAL, "enabled": False, "environment": {"A": "b"}}}
    found = await served.post("/mcp", body, directory=project)
    assert found["new"] == {"status": "disabled"}
    assert found.keys() == {"off", "on", "new"}
    assert (Path(project) / "opencode.json").read_bytes() == before
    assert await served.get("/mcp") == {}
    await served.ask("PATCH", "/config", {"username": "bob"}, directory=project)
    assert (await served.get("/mcp", directory=project)).keys() == {"off", "on"}


async def test_a_server_is_switched_without_pretending(served: Served, project: str) -> None:
    assert await served.post("/mcp/off/connect", directory=project) is False
    assert (await served.get("/mcp", directory=project))["off"]["status"] == "failed"
    assert await served.post("/mcp/on/disconnect", directory=project) is True
    assert (await served.get("/mcp", directory=project))["on"] == {"status": "disabled"}


@pytest.mark.parametrize(
    ("method", "action", "body"),
    [
        ("POST", "connect", {}),
        ("POST", "disconnect", {}),
        ("POST", "auth", {}),
        ("POST", "auth/authenticate", {}),
        ("POST", "auth/callback", {"code": "x"}),
        ("DELETE", "auth", None),
    ],
)
async def test_a_server_that_nobody_knows(served: Served, method: str, action: str, body: Any) -> None:
    problem = await served.ask(method, f"/mcp/nope/{action}", body, status=404)
    assert problem["_tag"] == "McpServerNotFoundError"
    assert problem["name"] == "nope"


async def test_signing_in_to_servers(served: Served, project: str) -> None:
    for action in ("auth", "auth/authenticate"):
        local = await served.post(f"/mcp/off/{action}", directory=project, status=400)
        assert "does not support OAuth" in local["error"]
        remote = await served.post(f"/mcp/on/{action}", directory=project, status=400)
        assert "does not connect" in remote["error"]
    code = {"code": "x"}
    await served.post("/mcp/on/auth/callback", code, directory=project, status=400, departs=REFUSED)
    assert await served.ask("DELETE", "/mcp/on/auth", directory=project) == {"success": True}


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ({"name": "x"}, "config"),
        ({"name": 3, "config": LOCAL}, "name"),
        ({"name": "x", "config": {"type": "odd"}}, "config"),
        ({"name": "x", "config": {"type": "local", "command": "run me"}}, "command"),
        ({"name": "x", "config": {**REMOTE, "timeout": -1}}, "timeout"),
        ([], "body"),
    ],
)
async def test_a_server_that_is_none(served: Served, body: Any, key: str) -> None:
    problem = await served.post("/mcp", body, status=400, departs=REFUSED)
    assert key in problem["data"]["message"]
    assert await served.get("/mcp") == {}


async def test_formatters_are_on_where_they_are_installed_and_used(served: Served, project: str) -> None:
    assert await served.get("/formatter") == []
    tool = Path(project) / "tool"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    mine = {"command": [str(tool), "$FILE"], "extensions": [".txt"]}
    gone = {"command": ["/no/such/program"], "extensions": [".md"]}
    setting = {"formatter": {"mine": mine, "gone": gone, "gofmt": {"disabled": True}}}
    await served.ask("PATCH", "/config", setting, directory=project)
    found = {item["name"]: item for item in await served.get("/formatter", directory=project)}
    assert found["mine"] == {"name": "mine", "extensions": [".txt"], "enabled": True}
    assert found["gone"] == {"name": "gone", "extensions": [".md"], "enabled": False}
    assert found["biome"]["enabled"] is False
    assert "gofmt" not in found


async def test_there_are_no_language_servers_and_no_resources(served: Served) -> None:
    assert await served.get("/lsp") == []
    assert await served.get("/experimental/resource") == {}

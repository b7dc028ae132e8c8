"""`/mcp` and `/experimental/resource`, with servers that are really connected."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from tests.agents.servers.mcp.oauth.authority import Authority, Protected
from tests.agents.servers.mcp.watching import raw
from tests.programs import npm
from tests.protocol.conftest import repository
from tests.protocol.served import Served
from tests.server import PATIENCE

pytestmark = pytest.mark.asyncio(loop_scope="session")

REFUSED = "OpenCode answers a bad body in a shape that its document does not have, and so do we"
LOCAL = {"type": "local", "command": ["run", "me"]}
GONE = {"type": "remote", "url": "http://127.0.0.1:9/mcp"}


@pytest_asyncio.fixture(loop_scope="session")
async def project(served: Served, tmp_path: Path) -> str:
    """With a server that is off and one that is not there, which the user has written."""
    path = repository(tmp_path)
    servers = {"off": {**LOCAL, "enabled": False}, "gone": GONE}
    await served.ask("PATCH", "/config", {"mcp": servers}, directory=str(path))
    return str(path)


@pytest.fixture
def protected() -> Iterator[Protected]:
    with Authority() as authority, Protected(authority) as running:
        yield running


async def test_servers_that_are_not_connected_say_why(served: Served, project: str) -> None:
    found = await served.get("/mcp", directory=project)
    assert found["off"] == {"status": "disabled"}
    assert found["gone"]["status"] == "failed"
    assert "streamable HTTP" in found["gone"]["error"]
    assert await served.get("/mcp") == {}


async def test_a_folder_disposed_of_begins_with_new_servers(served: Served, tmp_path: Path) -> None:
    path, note = repository(tmp_path), tmp_path / "pid"
    os.mkfifo(note)
    here = {"directory": str(path)}
    one = raw(environment={"PID_FILE": str(note)})
    await served.ask("PATCH", "/config", {"mcp": {"one": one}}, directory=str(path))
    before = await asyncio.wait_for(asyncio.to_thread(note.read_text), PATIENCE)
    assert await served.get("/mcp", **here) == {"one": {"status": "connected"}}
    await served.post("/mcp", {"name": "added", "config": {**LOCAL, "enabled": False}}, **here)
    assert await served.post("/instance/dispose", **here) is True
    assert await asyncio.wait_for(asyncio.to_thread(note.read_text), PATIENCE) != before
    assert (await served.get("/mcp", **here)).keys() == {"one"}


async def test_a_server_is_added_to_this_run_alone_and_lists_its_resources(
    served: Served, project: str, user_environ: dict[str, str]
) -> None:
    before = (Path(project) / "opencode.json").read_bytes()
    program = npm("@modelcontextprotocol/server-everything", "mcp-server-everything", user_environ)
    body = {"name": "new", "config": {"type": "local", "command": [str(program), "stdio"]}}
    found = await served.post("/mcp", body, directory=project)
    assert found.keys() == {"off", "gone", "new"}
    assert found["new"] == {"status": "connected"}
    resources = await served.get("/experimental/resource", directory=project)
    assert all(key == f"new:{resource['uri']}" for key, resource in resources.items())
    assert {resource["client"] for resource in resources.values()} == {"new"}
    assert await served.get("/mcp") == await served.get("/experimental/resource") == {}
    assert await served.post("/mcp/new/disconnect", directory=project) is True
    assert (await served.get("/mcp", directory=project))["new"] == {"status": "disabled"}
    assert await served.get("/experimental/resource", directory=project) == {}
    assert await served.post("/mcp/new/connect", directory=project) is True
    assert (Path(project) / "opencode.json").read_bytes() == before
    await served.ask("PATCH", "/config", {"username": "bob"}, directory=project)
    assert (await served.get("/mcp", directory=project)).keys() == {"off", "gone"}


async def test_a_server_is_switched_without_pretending(served: Served, project: str) -> None:
    assert await served.post("/mcp/off/connect", directory=project) is False
    off = (await served.get("/mcp", directory=project))["off"]
    assert off["status"] == "failed"
    assert "run" in off["error"]
    assert await served.post("/mcp/gone/disconnect", directory=project) is True
    assert (await served.get("/mcp", directory=project))["gone"] == {"status": "disabled"}


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


async def test_servers_that_nobody_signs_in_to(served: Served, project: str) -> None:
    for action in ("auth", "auth/authenticate"):
        local = await served.post(f"/mcp/off/{action}", directory=project, status=400)
        assert local == {"error": "MCP server off does not support OAuth"}
    gone = await served.post("/mcp/gone/auth", directory=project, status=400)
    assert "could not be reached" in gone["error"]
    waited = await served.post("/mcp/gone/auth/authenticate", directory=project)
    assert waited["status"] == "failed"
    code = {"code": "x"}
    await served.post("/mcp/gone/auth/callback", code, directory=project, status=400, departs=REFUSED)
    assert await served.ask("DELETE", "/mcp/gone/auth", directory=project) == {"success": True}


async def test_a_person_signs_in_with_a_browser_that_is_not_logged_in_here(
    served: Served, project: str, protected: Protected, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = str(repository(tmp_path_factory.mktemp("other")))
    body = {"name": "guarded", "config": {"type": "remote", "url": protected.address}}
    await served.post("/mcp", body, directory=other)
    assert (await served.post("/mcp", body, directory=project))["guarded"] == {"status": "needs_auth"}
    begun = await served.post("/mcp/guarded/auth", directory=project)
    assert f"state={begun['oauthState']}" in begun["authorizationUrl"]
    async with httpx.AsyncClient(follow_redirects=True) as browser:
        nothing = await browser.get(f"{served.server.url}/mcp/oauth/callback?state=x&code=y")
        assert nothing.status_code == 404
        page = await browser.get(begun["authorizationUrl"])
        assert str(page.url).startswith(f"{served.server.url}/mcp/oauth/callback?")
        assert page.status_code == 200
        assert "You are signed in to the MCP server guarded" in page.text
        assert "set-cookie" not in page.headers
        assert (await browser.get(str(page.url))).status_code == 404, "once"
        assert (await browser.post(str(page.url))).status_code in (401, 403)
    for place in (project, other):
        assert (await served.get("/mcp", directory=place))["guarded"] == {"status": "connected"}
    again = await served.post("/mcp/guarded/auth", directory=project)
    assert again == {"authorizationUrl": "", "oauthState": ""}
    assert await served.ask("DELETE", "/mcp/guarded/auth", directory=project) == {"success": True}
    assert (await served.get("/mcp", directory=project))["guarded"] == {"status": "needs_auth"}


async def test_a_client_waits_for_the_sign_in_or_brings_the_code(
    served: Served, project: str, protected: Protected
) -> None:
    body = {"name": "guarded", "config": {"type": "remote", "url": protected.address}}
    await served.post("/mcp", body, directory=project)
    async with served.http.stream("GET", "/event", params={"directory": project}) as stream:
        lines = stream.aiter_lines()
        await anext(lines)
        waiting = asyncio.create_task(served.post("/mcp/guarded/auth/authenticate", directory=project))
        told = await _event(lines, "mcp.browser.open.failed")
    assert told["mcpName"] == "guarded"
    async with httpx.AsyncClient(follow_redirects=True) as browser:
        await browser.get(told["url"])
    assert await waiting == {"status": "connected"}
    await served.ask("DELETE", "/mcp/guarded/auth", directory=project)
    await served.post("/mcp/guarded/auth", directory=project)
    wrong = await served.post("/mcp/guarded/auth/callback", {"code": "x"}, directory=project)
    assert wrong["status"] == "failed"
    begun = await served.post("/mcp/guarded/auth", directory=project)
    async with httpx.AsyncClient() as browser:
        back = httpx.URL((await browser.get(begun["authorizationUrl"])).headers["location"])
    code = {"code": back.params["code"]}
    assert await served.post("/mcp/guarded/auth/callback", code, directory=project) == {"status": "connected"}
    await served.ask("DELETE", "/mcp/guarded/auth", directory=project)


async def _event(lines: AsyncIterator[str], kind: str) -> dict[str, Any]:
    """The properties of the next event of a type."""
    async with asyncio.timeout(PATIENCE):
        async for line in lines:
            if line.startswith("data:") and json.loads(line[5:])["type"] == kind:
                return dict(json.loads(line[5:])["properties"])
    raise AssertionError(f"the stream ended before {kind}")


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ({"name": "x"}, "config"),
        ({"name": 3, "config": LOCAL}, "name"),
        ({"name": "x", "config": {"type": "odd"}}, "config"),
        ({"name": "x", "config": {"type": "local", "command": "run me"}}, "command"),
        ({"name": "x", "config": {**GONE, "timeout": -1}}, "timeout"),
        ([], "body"),
    ],
)
async def test_a_server_that_is_none(served: Served, body: Any, key: str) -> None:
    problem = await served.post("/mcp", body, status=400, departs=REFUSED)
    assert key in problem["data"]["message"]
    assert await served.get("/mcp") == {}

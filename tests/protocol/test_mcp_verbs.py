"""`opencode-web mcp auth`, `logout` and `debug`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from tests.agents.servers.mcp.oauth.authority import Authority, Protected
from tests.protocol.conftest import repository
from tests.protocol.served import Served
from tests.protocol.test_verbs import SECONDS, cli
from tests.server import ROOT

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture
def protected() -> Iterator[Protected]:
    with Authority() as authority, Protected(authority) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def project(served: Served, protected: Protected, tmp_path: Path) -> str:
    path = repository(tmp_path)
    servers = {
        "guarded": {"type": "remote", "url": protected.address},
        "local": {"type": "local", "command": ["run", "me"]},
    }
    await served.ask("PATCH", "/config", {"mcp": servers}, directory=str(path))
    return str(path)


async def test_signing_in_and_out_in_a_terminal(served: Served, project: str, protected: Protected) -> None:
    """No server takes part: the browser comes back to the command."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "opencode_web", "mcp", "auth", "--dir", project),
        cwd=served.server.project,
        env={**served.server.environment(), "PYTHONPATH": str(ROOT)},
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    async with asyncio.timeout(SECONDS):
        line = (await process.stdout.readline()).decode()
        async with httpx.AsyncClient(follow_redirects=True) as browser:
            page = await browser.get(line.split(": ", 1)[1].strip())
        assert "You are signed in" in page.text
        said = (await process.stdout.read()).decode()
        assert await process.wait() == 0
    assert said == "Signed in to guarded\n"
    listed = (await cli(served, "mcp", "auth", "list", "--dir", project)).out
    assert "guarded" in listed
    assert "yes" in listed
    assert "local" not in listed
    told = (await cli(served, "mcp", "debug", "guarded", "--dir", project)).out
    assert "State: connected" in told
    assert not any(token in told for token in protected.authority.tokens)
    assert f"Authorization server: {protected.authority.url}" in told
    assert (await cli(served, "mcp", "logout", "guarded", "--dir", project)).status == 0
    for command, words in ((("logout", "guarded"), "no sign-in"), (("auth", "local"), "no remote server")):
        done = await cli(served, "mcp", *command, "--dir", project)
        assert (done.status, words in done.err) == (1, True)

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import httpx2
import pytest
import pytest_asyncio
from django.conf import settings

from agents.config.schema import McpConfig
from agents.servers.mcp.oauth import signing
from agents.servers.mcp.oauth.attempts import Attempt, arrived
from agents.servers.mcp.oauth.store import FILE
from agents.servers.mcp.server import Server, parse
from tests.agents.servers.mcp.oauth.authority import Authority, Protected

ORIGIN = "http://127.0.0.1:4096"
BACK = f"{ORIGIN}/mcp/oauth/callback"

SignIn = Callable[[Server], Awaitable[Attempt]]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Our file of sign-ins and OpenCode's, neither of which exists yet."""
    folders = [tmp_path / "ours", tmp_path / "theirs"]
    monkeypatch.setattr(settings, "AUTH_FILES", [folder / "auth.json" for folder in folders])
    folders[1].mkdir()
    return [folder / FILE for folder in folders]


@pytest.fixture
def authority() -> Iterator[Authority]:
    with Authority() as running:
        yield running


@pytest.fixture
def protected(authority: Authority) -> Iterator[Protected]:
    with Protected(authority) as running:
        yield running


@pytest_asyncio.fixture
async def sign_in(tmp_path: Path, files: list[Path]) -> SignIn:
    """Sign in like a person whose browser goes where it is sent, and comes back to the page."""

    async def act(server: Server) -> Attempt:
        attempt = await signing.begin(server, ORIGIN)
        arrived(await sent_back(attempt.url))
        await signing.finish(attempt)
        return attempt

    return act


def remote(address: str, name: str = "protected", **more: object) -> Server:
    config: McpConfig = {"type": "remote", "url": address, **more}  # type: ignore[typeddict-item]
    return parse(name, config)


async def sent_back(url: str) -> dict[str, str]:
    """What the authorization server sends the browser back with."""
    async with httpx2.AsyncClient() as browser:
        answer = await browser.get(url)
    assert answer.status_code == 302, answer.text
    return dict(httpx2.URL(answer.headers["location"]).params)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])

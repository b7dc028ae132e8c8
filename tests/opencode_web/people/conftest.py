"""A server with people, and clients of theirs."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from tests.server import Server

TEAM = {"OPENCODE_WEB_TEAM": "1"}
BY_PROXY = {"OPENCODE_WEB_PERSON_HEADER": "X-Remote-User", "OPENCODE_WEB_TRUSTED_PROXY": "127.0.0.1"}
PASSWORD = "correct horse battery"
_CSRF = re.compile(r'"X-CSRF-Token": "([0-9a-f]+)"')


class Team:
    """`server` runs; people are added by the command line, as the first one is."""

    def __init__(self, server: Server) -> None:
        self.server = server

    def command(self, *arguments: str) -> str:
        done = self.server.command("people", *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def token(self, name: str, role: str, *more: str) -> str:
        """Of a new person."""
        self.command("add", name, "--role", role)
        return self.command("token", name, *more)

    @asynccontextmanager
    async def client(self, token: str = "") -> AsyncIterator[httpx.AsyncClient]:
        headers = {"Authorization": f"Bearer {token}"} if token else {"Origin": self.server.url}
        async with httpx.AsyncClient(
            base_url=self.server.url, headers=headers, trust_env=False, timeout=60
        ) as client:
            yield client

    @asynccontextmanager
    async def browser(self, name: str, link: str = "") -> AsyncIterator[httpx.AsyncClient]:
        """Signed in by the link of an invitation, which chooses the password."""
        async with self.client() as browser:
            browser.follow_redirects = True
            form = await browser.get(link or self.command("link", name))
            chosen = {"password1": PASSWORD, "password2": PASSWORD}
            answer = await browser.post(str(form.url), data=chosen)
            assert answer.status_code == 200, answer.text
            yield browser


async def csrf(browser: httpx.AsyncClient, page: str = "/you/") -> dict[str, str]:
    """The header that a page of ours sends with a change."""
    found = _CSRF.search((await browser.get(page)).text.replace("\\u002D", "-"))
    assert found
    return {"X-CSRF-Token": found[1]}


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    folder: Path = tmp_path_factory.mktemp("team")
    home, project = folder / "home", folder / "project"
    home.mkdir()
    project.mkdir()
    server = Server(home, project, {}, {**TEAM, **BY_PROXY})
    server.start()
    try:
        yield Team(server)
    finally:
        server.stop()

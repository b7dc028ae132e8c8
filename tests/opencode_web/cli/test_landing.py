"""What the page opens with: the session gone on with, a prompt that was sent, a model that was chosen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest_asyncio

from bench.client import Client
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Turn
from tests.server import Server, model_config, running, until

MODEL = "fake/fake"


@pytest_asyncio.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    """One that does not run yet."""
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    async with OpenAIServer([Turn(text="Here.")] * 9) as model:
        yield Server(tmp_path / "home", tmp_path / "project", model_config(model.base_url))


def landed(link: str) -> str:
    """The path that a launch link leads to."""
    return parse_qs(urlsplit(link).query).get("next", ["/"])[0]


async def opened(server: Server, *arguments: str) -> str:
    """The path that is opened by a server that runs."""
    done = await asyncio.to_thread(server.command, *arguments)
    assert done.returncode == 0, done.stderr
    return landed(done.stdout.splitlines()[-1].removeprefix("Open "))


async def prompts(client: Client, session: str) -> list[str]:
    return [
        part["text"]
        for entry in await client.messages(session)
        if entry["info"]["role"] == "user"
        for part in entry["parts"]
        if part["type"] == "text"
    ]


async def answered(client: Client, session: str) -> list[str]:
    """The prompts, once the turn has begun that one was sent for."""
    async with client.events() as events:
        if not await prompts(client, session):
            await until(events, "session.idle", sessionID=session)
    return await prompts(client, session)


async def test_a_server_that_starts_opens_what_was_begun(server: Server) -> None:
    begun = ("--no-open", "--agent", "plan", "-m", MODEL, "--prompt", "Who is there?")
    await asyncio.to_thread(server.start, *begun, verb="web")
    try:
        async with server.client() as client:
            (made,) = await client.sessions()
            assert landed(server.launch_url) == f"/p/{made['projectID']}/s/{made['id']}"
            assert await answered(client, made["id"]) == ["Who is there?"]
        async with httpx.AsyncClient(trust_env=False, follow_redirects=True) as browser:
            assert "Who is there?" in (await browser.get(server.launch_url)).text
    finally:
        await asyncio.to_thread(server.stop)


async def test_what_is_not_there_ends_a_server_that_starts(server: Server) -> None:
    done = await asyncio.to_thread(server.command, "--no-open", "--port", "0", "-s", "ses_nothing")
    assert (done.returncode, "Session not found: ses_nothing" in done.stderr) == (1, True)
    assert "Open " not in done.stdout


async def test_a_server_that_runs_opens_what_was_begun(server: Server) -> None:
    async with running(server) as client:
        first, last = [await client.create_session(title) for title in ("First", "Last")]
        project = f"/p/{first['projectID']}/s/"
        assert await opened(server, "-c") == project + last["id"]
        assert (
            await opened(server, "web", "-s", first["id"], "--prompt", "And then?") == project + first["id"]
        )
        assert await answered(client, first["id"]) == ["And then?"]

        assert await opened(server, "-s", last["id"], "-m", MODEL, "--agent", "plan") == project + last["id"]
        chosen = await client.session(last["id"])
        assert (chosen["agent"], chosen["model"]["id"]) == ("plan", "fake")
        assert await prompts(client, last["id"]) == []

        copy = await opened(server, "-c", "--fork")
        assert copy.removeprefix(project) not in (first["id"], last["id"])

        new = await opened(server, "-m", MODEL, "--agent", "plan")
        assert new == f"{project}?agent=plan&model=fake%2Ffake"
        for wrong, words in ((("-m", "fake/none"), "no model 'fake/none'"), (("--fork",), "--continue")):
            done = await asyncio.to_thread(server.command, *wrong)
            assert (done.returncode, words in done.stderr) == (2, True)
        assert len(await client.sessions()) == 3

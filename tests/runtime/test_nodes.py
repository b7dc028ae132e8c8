"""A team: nodes with a folder each, on one PostgreSQL, behind a front."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from bench.client import Client
from sessions.core.wire import ours
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn, Wait
from tests.postgres_server import PostgresServer
from tests.runtime.conftest import repository
from tests.server import PASSWORD, Server, model_config, parts_of, until

EDIT = {"filePath": "hello.py", "oldString": "'hello'", "newString": "'goodbye'"}
ROWS = "team"
SECRET = "a secret that all of a team have " * 2


def environ(postgres: PostgresServer) -> dict[str, str]:
    return {
        "OPENCODE_WEB_DATABASE": postgres.url(ROWS),
        "OPENCODE_WEB_SECRET": SECRET,
        "OPENCODE_WEB_LEASE_SECONDS": "2",
    }


def node(folder: Path, postgres: PostgresServer, name: str, config: Mapping[str, Any]) -> Server:
    """With a home and a project of its own."""
    home = folder / name
    home.mkdir(exist_ok=True)
    project = home / "project"
    if not project.exists():
        repository(project)
    return Server(home, project, config, {**environ(postgres), "OPENCODE_WEB_NODE": name}, anew=True)


def front_of(folder: Path, postgres: PostgresServer) -> Server:
    home = folder / "front"
    home.mkdir(exist_ok=True)
    return Server(home, home, {}, environ(postgres), anew=True)


def through(front: Server, name: str) -> Client:
    """A client of a node that knows the front alone."""
    client = Client(f"{front.url}/n/{name}", PASSWORD)
    client.http.headers[ours.HEADER] = "1"
    return client


@asynccontextmanager
async def begun(*servers: Server, verb: str = "serve") -> AsyncIterator[None]:
    for server in servers:
        await asyncio.to_thread(server.start, verb=verb)
    try:
        yield
    finally:
        for server in servers:
            await asyncio.to_thread(server.stop)


@asynccontextmanager
async def told_at(front: Server) -> AsyncIterator[AsyncIterator[str]]:
    """What a front says of everything, a line each."""
    async with front.client() as client, client.http.stream("GET", "/global/event") as answer:
        yield answer.aiter_lines()


async def machines(front: Server) -> str:
    async with front.client() as client:
        return (await client.http.get("/")).text


async def test_a_turn_through_a_front(tmp_path: Path, postgres: PostgresServer) -> None:
    postgres.make(ROWS)
    script = [Turn(text="First.", tools=[ToolUse("edit", EDIT)]), Turn(text="Done.")]
    async with OpenAIServer(script) as model:
        one, two = (node(tmp_path, postgres, name, model_config(model.base_url)) for name in ("one", "two"))
        front = front_of(tmp_path, postgres)
        async with begun(one, two), begun(front, verb="front"), through(front, "one") as client:
            session = (await client.create_session(title="Said at one"))["id"]
            async with client.events() as events:
                await client.prompt_async(session, "Say goodbye instead.")
                await until(events, "message.part.delta", delta="Done.")
                await until(events, "session.idle", sessionID=session)
            messages = await client.messages(session)
            assert [part["text"] for part in parts_of(messages, "text")] == [
                "Say goodbye instead.",
                "First.",
                "Done.",
            ]
            assert "goodbye" in (one.project / "hello.py").read_text()
            assert "goodbye" not in (two.project / "hello.py").read_text()
            await client.revert(session, messages[0]["info"]["id"])
            assert "goodbye" not in (one.project / "hello.py").read_text()
            shown = await machines(front)
            assert "Said at one" in shown
            assert str(one.project) in shown
            async with through(front, "two") as other:
                assert await other.sessions() == []
                with pytest.raises(httpx.HTTPStatusError, match="404"):
                    await other.session(session)


async def test_what_a_machine_that_went_away_had_begun(tmp_path: Path, postgres: PostgresServer) -> None:
    postgres.make(ROWS)
    script = [Turn(text=["kept ", Wait("never"), "lost"]), Turn(text="Back.")]
    async with OpenAIServer(script) as model:
        one = node(tmp_path, postgres, "one", model_config(model.base_url))
        front = front_of(tmp_path, postgres)
        async with begun(front, verb="front"), told_at(front) as told:
            async with begun(one), through(front, "one") as client, client.events() as events:
                session = (await client.create_session(title="Cut off"))["id"]
                await client.prompt_async(session, "Talk.")
                await until(events, "message.part.delta", delta="kept ")
                assert "at work" in await machines(front)
                one.kill()
            with pytest.raises(httpx.HTTPStatusError, match="502"):
                async with through(front, "one") as client:
                    await client.session(session)
            await anext(line async for line in told if "session.idle" in line and session in line)
            shown = await machines(front)
            assert "Away" in shown
            assert "Cut off" in shown
            assert "at work" not in shown
            async with begun(one), through(front, "one") as client:
                (_, answer) = await client.messages(session)
                assert "machine went away" in answer["info"]["error"]["data"]["message"]
                await client.prompt(session, "And now?")
                assert parts_of(await client.messages(session), "text")[-1]["text"] == "Back."


async def test_a_machine_that_only_slept_writes_nothing_more(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    postgres.make(ROWS)
    script = [Turn(text=["kept ", Wait("later"), "lost"], tools=[ToolUse("edit", EDIT)]), Turn(text="Back.")]
    async with OpenAIServer(script) as model:
        one, front = (
            node(tmp_path, postgres, "one", model_config(model.base_url)),
            front_of(tmp_path, postgres),
        )
        async with (
            begun(front, verb="front"),
            told_at(front) as told,
            begun(one),
            through(front, "one") as client,
        ):
            session = (await client.create_session(title="Asleep"))["id"]
            async with client.events() as events:
                await client.prompt_async(session, "Talk.")
                await until(events, "message.part.delta", delta="kept ")
                assert one.process is not None
                one.process.send_signal(signal.SIGSTOP)
                await anext(line async for line in told if "session.idle" in line and session in line)
                model.gate("later").open()
                one.process.send_signal(signal.SIGCONT)
            await client.prompt(session, "And now?")
            (_, cut, _, back) = await client.messages(session)
            assert "machine went away" in cut["info"]["error"]["data"]["message"]
            assert "lost" not in str(cut)
            assert parts_of([back], "text")[0]["text"] == "Back."
            assert parts_of([cut], "tool") == []
            assert "goodbye" not in (one.project / "hello.py").read_text()


async def test_a_name_is_that_of_one_machine(tmp_path: Path, postgres: PostgresServer) -> None:
    postgres.make(ROWS)
    one, other = node(tmp_path, postgres, "one", {}), node(tmp_path, postgres, "other", {})
    other.environ = {**other.environ, "OPENCODE_WEB_NODE": "one"}
    async with begun(one):
        with pytest.raises(RuntimeError, match="another data folder"):
            await asyncio.to_thread(other.start)
    assert "Traceback" not in other.log()
    assert one.command("node", "list").stdout.splitlines()[2].split()[:2] == ["one", "away"]
    assert one.command("node", "forget", "one").returncode == 0
    async with begun(other):
        assert other.command("node", "list").stdout.splitlines()[2].split()[:2] == ["one", "lives"]


async def test_a_node_takes_nobody_s_word(tmp_path: Path, postgres: PostgresServer) -> None:
    postgres.make(ROWS)
    async with begun(one := node(tmp_path, postgres, "one", {})), httpx.AsyncClient() as client:
        for word in ("e30=.00", "x", "e30=."):
            answer = await client.get(f"{one.url}/session", headers={"X-OpenCode-Front": word})
            assert answer.status_code == 403
        assert (await client.get(f"{one.url}/session")).status_code == 401

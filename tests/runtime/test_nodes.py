"""A team: nodes with a folder each, on one PostgreSQL, behind a front."""

from __future__ import annotations

import asyncio
import signal
import stat
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from bench.client import Client
from tests.bare import refusal
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn, Wait
from tests.postgres_server import PostgresServer
from tests.runtime.conftest import repository
from tests.server import Server, model_config, parts_of, until
from tests.team import begun, front, node, through

EDIT = {"filePath": "hello.py", "oldString": "'hello'", "newString": "'goodbye'"}

_MOUNTED = 'mount --bind "$0" "$1" && shift && exec "$@"'


def machine(folder: Path, postgres: PostgresServer, name: str, config: Mapping[str, Any]) -> Server:
    """A node with a project of its own."""
    project = folder / f"project-{name}"
    if not project.exists():
        repository(project)
    return node(folder, postgres, name, project, config)


@asynccontextmanager
async def told_at(door: Server) -> AsyncIterator[AsyncIterator[str]]:
    """What a front says of everything, a line each."""
    async with door.client() as client, client.http.stream("GET", "/global/event") as answer:
        yield answer.aiter_lines()


async def machines(door: Server) -> str:
    async with door.client() as client:
        return (await client.http.get("/")).text


async def test_a_turn_through_a_front(tmp_path: Path, postgres: PostgresServer) -> None:
    script = [Turn(text="First.", tools=[ToolUse("edit", EDIT)]), Turn(text="Done.")]
    async with OpenAIServer(script) as model:
        one, two = (
            machine(tmp_path, postgres, name, model_config(model.base_url)) for name in ("one", "two")
        )
        door = front(tmp_path, postgres)
        async with begun(one, two), begun(door, verb="front"), through(door, "one") as client:
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
            shown = await machines(door)
            assert "Said at one" in shown
            assert str(one.project) in shown
            page = f"/p/{(await client.session(session))['projectID']}/s/{session}"
            for chosen in ("open", "closed"):
                answer = await client.http.get(page, headers={"Cookie": f"panel={chosen}"})
                assert f'data-review="{chosen}"' in answer.text
            async with door.client() as client:
                listed = (await client.http.get("/", headers={"Accept": "application/json"})).json()
            assert [(entry["name"], entry["lives"]) for entry in listed] == [("one", True), ("two", True)]
            assert listed[0]["projects"][0]["sessions"][0]["title"] == "Said at one"
            async with through(door, "two") as other:
                assert await other.sessions() == []
                with pytest.raises(httpx.HTTPStatusError, match="404"):
                    await other.session(session)


async def test_a_node_that_begins_again_is_found_at_once(tmp_path: Path, postgres: PostgresServer) -> None:
    """At another port, of which the front, which others keep asking, has not heard yet."""
    one, two = (machine(tmp_path, postgres, name, {}) for name in ("one", "two"))
    door = front(tmp_path, postgres)

    async def ask(other: Client) -> None:
        while True:
            await other.sessions()

    async with (
        begun(one, two),
        begun(door, verb="front"),
        through(door, "one") as client,
        through(door, "two") as other,
    ):
        for _ in range(3):
            session = await client.create_session(title="Said at one")
            await asyncio.to_thread(one.stop)
            asking = asyncio.create_task(ask(other))
            await asyncio.to_thread(one.start)
            body = {"parts": [{"type": "text", "text": "noted"}], "noReply": True}
            await client.post(f"/session/{session['id']}/message", body)
            asking.cancel()


@pytest.mark.proc
async def test_the_same_path_on_two_machines(tmp_path: Path, postgres: PostgresServer) -> None:
    """Each in a mount namespace of its own (unshare(1)), where another folder lies at that path."""
    if refusal():
        pytest.skip(refusal())
    place = tmp_path / "work"
    place.mkdir()
    turns = [Turn(tools=[ToolUse("edit", EDIT)]), Turn(text="Done.")]
    async with OpenAIServer([*turns, *turns]) as model:
        nodes = []
        for name in ("one", "two"):
            folder = repository(tmp_path / f"project-{name}")
            nodes.append(node(tmp_path, postgres, name, place, model_config(model.base_url)))
            nodes[-1].prefix = ["unshare", "--mount", "sh", "-c", _MOUNTED, str(folder), str(place)]
        door = front(tmp_path, postgres)
        async with begun(*nodes), begun(door, verb="front"):
            for name in ("one", "two"):
                async with through(door, name) as client:
                    session = await client.create_session(title=name)
                    assert session["directory"] == str(place)
                    await client.prompt(session["id"], "Say goodbye instead.")
                    assert len(await client.sessions()) == 1
                others = (tmp_path / f"project-{other}" / "hello.py" for other in ("one", "two"))
                assert ["goodbye" in file.read_text() for file in others] == [True, name == "two"]
            async with through(door, "one") as client:
                (session,) = await client.sessions()
                await client.revert(session["id"], (await client.messages(session["id"]))[0]["info"]["id"])
            assert "goodbye" not in (tmp_path / "project-one" / "hello.py").read_text()
            assert "goodbye" in (tmp_path / "project-two" / "hello.py").read_text()


async def test_what_a_machine_that_went_away_had_begun(tmp_path: Path, postgres: PostgresServer) -> None:
    script = [Turn(text=["kept ", Wait("never"), "lost"]), Turn(text="Back.")]
    async with OpenAIServer(script) as model:
        one = machine(tmp_path, postgres, "one", model_config(model.base_url))
        door = front(tmp_path, postgres)
        async with begun(door, verb="front"), told_at(door) as told:
            async with begun(one), through(door, "one") as client, client.events() as events:
                session = (await client.create_session(title="Cut off"))["id"]
                await client.prompt_async(session, "Talk.")
                await until(events, "message.part.delta", delta="kept ")
                assert "working" in await machines(door)
                one.kill()
            with pytest.raises(httpx.HTTPStatusError, match="502"):
                async with through(door, "one") as client:
                    await client.session(session)
            await anext(line async for line in told if "session.idle" in line and session in line)
            shown = await machines(door)
            assert "Away" in shown
            assert "Cut off" in shown
            assert "working" not in shown
            async with begun(one), through(door, "one") as client:
                (_, answer) = await client.messages(session)
                assert "machine went away" in answer["info"]["error"]["data"]["message"]
                await client.prompt(session, "And now?")
                assert parts_of(await client.messages(session), "text")[-1]["text"] == "Back."


async def test_a_machine_that_only_slept_writes_nothing_more(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    script = [Turn(text=["kept ", Wait("later"), "lost"], tools=[ToolUse("edit", EDIT)]), Turn(text="Back.")]
    async with OpenAIServer(script) as model:
        one, door = (
            machine(tmp_path, postgres, "one", model_config(model.base_url)),
            front(tmp_path, postgres),
        )
        async with (
            begun(door, verb="front"),
            told_at(door) as told,
            begun(one),
            through(door, "one") as client,
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
    one, other = machine(tmp_path, postgres, "one", {}), machine(tmp_path, postgres, "other", {})
    other.environ = {**other.environ, "OPENCODE_WEB_NODE": "one"}
    async with begun(one), one.client() as client:
        await client.create_session("of one")
        with pytest.raises(RuntimeError, match="another data folder"):
            await asyncio.to_thread(other.start)
        assert "another data folder" in other.command("session", "list").stderr
        assert one.command("node", "forget", "one").returncode == 1
    assert "Traceback" not in other.log()
    assert one.command("node", "list").stdout.splitlines()[2].split()[:2] == ["one", "away"]
    assert one.command("node", "forget", "one").returncode == 0
    async with begun(other), other.client() as client:
        assert await client.sessions() == []
        assert other.command("node", "list").stdout.splitlines()[2].split()[:2] == ["one", "lives"]


async def test_a_node_takes_nobody_s_word(tmp_path: Path, postgres: PostgresServer) -> None:
    async with begun(one := machine(tmp_path, postgres, "one", {})), httpx.AsyncClient() as client:
        for word in ("e30=.00", "x", "e30=."):
            answer = await client.get(f"{one.url}/session", headers={"X-OpenCode-Front": word})
            assert answer.status_code == 403
        assert (await client.get(f"{one.url}/session")).status_code == 401


async def test_a_machine_joins_by_a_token(tmp_path: Path, postgres: PostgresServer) -> None:
    one, door = machine(tmp_path, postgres, "one", {}), front(tmp_path, postgres)
    two = Server(tmp_path / "home-two", repository(tmp_path / "two"), {}, {}, anew=True)
    two.home.mkdir()
    async with begun(one), begun(door, verb="front"):
        token = one.command("node", "invite").stdout.split()[-1]
        assert "counts no longer" in two.command("node", "join", door.url, "--token", "x").stderr
        assert "https" in two.command("node", "join", "http://example.com", "--token", token).stderr
        joined = two.command("node", "join", door.url, "--token", token, "--name", "two")
        assert joined.returncode == 0, joined.stderr
        assert "counts no longer" in two.command("node", "join", door.url, "--token", token).stderr
        assert stat.S_IMODE((two.data / "team.json").stat().st_mode) == 0o600
        async with begun(two), through(door, "two") as client:
            await client.create_session(title="of two")
            async with through(door, "one") as other:
                assert await other.sessions() == []

"""What is parked of a project after each turn, and how it goes on at another machine."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest

from bench.client import Client
from opencode_web.nodes.rows import ELSEWHERE
from sessions.core.git import run_git
from tests import bare
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn, Wait
from tests.postgres_server import PostgresServer
from tests.runtime.conftest import repository
from tests.server import Server, model_config, parts_of, until
from tests.team import begun, front, node, through

EDIT = {"filePath": "hello.py", "oldString": "'hello'", "newString": "'goodbye'"}
LOOK_SECONDS, PATIENCE = 0.1, 30.0

_SMALL = 'mkdir -p "$0" && mount -t tmpfs -o size=1m parked "$0" && exec "$@"'

T = TypeVar("T")


async def seen(look: Callable[[], Awaitable[T]], is_wanted: Callable[[T], bool]) -> T:
    """What is in rows, once it is as wanted: no event tells of it."""
    async with asyncio.timeout(PATIENCE):
        while True:
            if is_wanted(found := await look()):
                return found
            await asyncio.sleep(LOOK_SECONDS)


async def first(door: Server) -> Mapping[str, Any]:
    """The first machine, as a front has it for programs."""
    async with door.client() as client:
        found: list[dict[str, Any]] = (
            await client.http.get("/", headers={"Accept": "application/json"})
        ).json()
        return found[0] if found else {"lives": True, "projects": []}


async def workspace(door: Server, is_wanted: Callable[[Mapping[str, Any]], bool]) -> Mapping[str, Any]:
    """The project of the first machine, once it is as wanted."""
    found = await seen(lambda: first(door), lambda one: any(map(is_wanted, one["projects"])))
    project: Mapping[str, Any] = next(filter(is_wanted, found["projects"]))
    return project


async def refusal(asked: Awaitable[httpx.Response]) -> str:
    with pytest.raises(httpx.HTTPStatusError) as refused:
        await asked
    return (await refused.value.response.aread()).decode()


def bundles(place: Path) -> list[Path]:
    return sorted(place.rglob("*.bundle"))


async def test_after_each_turn(tmp_path: Path, postgres: PostgresServer) -> None:
    place = tmp_path / "place"
    script = [Turn(tools=[ToolUse("edit", EDIT)]), *(Turn(text=f"Done {number}.") for number in range(4))]
    async with OpenAIServer(script) as model:
        one = node(tmp_path, postgres, "one", repository(tmp_path / "one"), model_config(model.base_url))
        one.environ = {**one.environ, "OPENCODE_WEB_PARK": f"file://{place}"}
        door = front(tmp_path, postgres)
        async with begun(one), begun(door, verb="front"), through(door, "one") as client:
            session = (await client.create_session(title="Said at one"))["id"]
            await client.prompt(session, "Say goodbye instead.")
            first = await workspace(door, lambda found: found["time_parked"] > 0)
            assert len(bundles(place)) == 1
            await client.prompt(session, "And now?")
            await workspace(door, lambda found: found["time_parked"] > first["time_parked"])
            assert len(bundles(place)) == 1  # nothing changed

            # Where the place cannot be written nothing is lost: it is said, and made good after a turn.
            (one.project / "by-hand").write_text("by hand")
            shutil.move(place, tmp_path / "away")
            place.write_text("in its way")
            await client.prompt(session, "Again.")
            assert str(place) in (await workspace(door, lambda found: found["problem"]))["problem"]
            place.unlink()
            shutil.move(tmp_path / "away", place)
            await client.prompt(session, "Once more.")
            await workspace(door, lambda found: not found["problem"])
            whole, thin = bundles(place)
            assert thin.stat().st_size < whole.stat().st_size


@pytest.mark.proc
async def test_a_full_disk(tmp_path: Path, postgres: PostgresServer) -> None:
    """A turn is none the worse; what could not be parked then is with the next one."""
    if reason := bare.refusal():
        pytest.skip(reason)
    script = [Turn(text=f"Done {number}.") for number in range(3)]
    async with OpenAIServer(script) as model:
        one = node(tmp_path, postgres, "one", repository(tmp_path / "one"), model_config(model.base_url))
        one.environ = {**one.environ, "OPENCODE_WEB_PARK": f"file://{tmp_path / 'place'}"}
        one.prefix = ["unshare", "--mount", "sh", "-c", _SMALL, str(one.data / "parked")]
        door = front(tmp_path, postgres)
        async with begun(one), begun(door, verb="front"), through(door, "one") as client:
            session = (await client.create_session(title="Said at one"))["id"]
            await client.prompt(session, "One.")
            await workspace(door, lambda found: found["time_parked"] > 0)
            for number in range(3):
                (one.project / f"large-{number}").write_bytes(os.urandom(1_000_000))
            await client.prompt(session, "Two.")
            assert (await workspace(door, lambda found: found["problem"]))["time_parked"] > 0
            (one.project / "large-2").unlink()
            (one.project / "large-1").unlink()
            (one.project / "large-0").write_bytes(os.urandom(1_000))
            await client.prompt(session, "Three.")
            await workspace(door, lambda found: not found["problem"])
            said = parts_of(await client.messages(session), "text")
            assert [part["text"] for part in said] == [
                "One.",
                "Done 0.",
                "Two.",
                "Done 1.",
                "Three.",
                "Done 2.",
            ]


async def restored(client: Client, node: str, project: str, folder: Path) -> httpx.Response:
    """The answer of a node that a project of another one is to come to, as the page asks for it."""
    named = {"node": node, "project": project}
    page = await client.http.get("/machines/restore", params=named)
    assert page.status_code == 200
    at = re.search(r'name="at" value="(\d+)"', page.text)
    body = {**named, "at": at[1] if at else "", "path": str(folder)}
    return await client.http.post("/machines/restore", data=body)


async def test_a_goal_of_a_lost_machine_is_paused_elsewhere(tmp_path: Path, postgres: PostgresServer) -> None:
    """Nobody there said that it is to be worked at, nor that less is to be asked for it."""
    async with OpenAIServer([Turn(text="Parked."), Turn(text=["at it ", Wait("never")])]) as model:
        config = model_config(model.base_url)
        one, two = (
            node(tmp_path, postgres, name, repository(tmp_path / name), config) for name in ("one", "two")
        )
        for server in (one, two):
            server.environ = {**server.environ, "OPENCODE_WEB_PARK": f"file://{tmp_path / 'place'}"}
        door = front(tmp_path, postgres)
        async with begun(door, verb="front"), begun(two), through(door, "two") as there:
            async with begun(one), through(door, "one") as client, client.events() as events:
                session = (await client.create_session(title="Said at one"))["id"]
                before = (await client.session(session)).get("preset")
                await client.prompt(session, "Say nothing.")
                found = await workspace(door, lambda found: found["time_parked"] > 0)
                terms = {"objective": "Be done.", "checks": ["true"], "judge": "none", "preset": "edits"}
                await client.post(f"/session/{session}/goal", terms)
                await until(events, "message.part.delta", delta="at it ")
                assert (await client.session(session)).get("preset") == "edits"
                one.kill()
            await workspace(door, lambda found: found["sessions"][0]["state"] != "working")
            await seen(lambda: first(door), lambda one: not one["lives"])
            await restored(there, "one", found["id"], tmp_path / "two-of-one")
            await workspace(door, lambda found: found["successor"])
            goal = await there.get(f"/session/{session}/goal")
            assert (goal["state"], goal["reason"]) == ("paused", ELSEWHERE)
            assert (await there.session(session)).get("preset") == before
            assert len(model.requests) == 2


async def test_a_lost_machine_s_project_goes_on_elsewhere(tmp_path: Path, postgres: PostgresServer) -> None:
    place = tmp_path / "place"
    script = [
        *(Turn(tools=[ToolUse("edit", EDIT)]), Turn(text="Done.")),
        *(Turn(text=["newer ", Wait("never"), "lost"]), Turn(text="Gone on.")),
    ]
    async with OpenAIServer(script) as model:
        config = model_config(model.base_url)
        one, two = (
            node(tmp_path, postgres, name, repository(tmp_path / name), config) for name in ("one", "two")
        )
        for server in (one, two):
            server.environ = {**server.environ, "OPENCODE_WEB_PARK": f"file://{place}"}
        door = front(tmp_path, postgres)
        async with begun(door, verb="front"), begun(two), through(door, "two") as there:
            async with begun(one), through(door, "one") as client, client.events() as events:
                session = (await client.create_session(title="Said at one"))["id"]
                (one.project / "by-hand").write_text("by hand")
                await client.prompt(session, "Say goodbye instead.")
                found = await workspace(door, lambda found: found["time_parked"] > 0)
                await client.prompt_async(session, "Talk.")
                await until(events, "message.part.delta", delta="newer ")
                one.kill()
            await workspace(door, lambda found: found["sessions"][0]["state"] != "working")
            await seen(lambda: first(door), lambda one: not one["lives"])

            shown = await there.http.get("/machines/restore", params={"node": "one", "project": found["id"]})
            assert "Said at one" in shown.text
            assert "is there already" in await refusal(restored(there, "one", found["id"], two.project))
            folder = tmp_path / "two-of-one"
            await restored(there, "one", found["id"], folder)
            assert "goodbye" in (folder / "hello.py").read_text()
            assert (folder / "by-hand").read_text() == "by hand"
            assert (await workspace(door, lambda found: found["successor"]))["successor"] == "two"
            assert run_git(["log", "--format=%s"], cwd=folder) == b"First\n"
            assert run_git(["status", "--porcelain"], cwd=folder) == b" M hello.py\n?? by-hand\n"

            messages = await there.messages(session)
            assert "goodbye" in str(messages)
            assert "Talk." in str(messages)
            await there.revert(session, messages[0]["info"]["id"])
            assert "goodbye" not in (folder / "hello.py").read_text()
            await there.unrevert(session)
            await there.prompt(session, "Go on.")
            assert parts_of(await there.messages(session), "text")[-1]["text"] == "Gone on."

            # It comes back: its copy stays as it is until somebody decides.
            async with begun(one), through(door, "one") as client:
                body = {"parts": [{"type": "text", "text": "And here?"}]}
                refused = await refusal(client.http.post(f"/session/{session}/prompt_async", json=body))
                assert "goes on at two" in refused
                async with door.client() as asking:
                    named = {"node": "one", "project": found["id"]}
                    await asking.http.post("/machines/prefer", data=named)
                await client.prompt(session, "And here?")
                refused = await refusal(there.http.post(f"/session/{session}/prompt_async", json=body))
                assert "goes on at one" in refused


async def test_a_project_is_moved(tmp_path: Path, postgres: PostgresServer) -> None:
    script = [
        *(Turn(tools=[ToolUse("edit", EDIT)]), Turn(text="Done.")),
        *(Turn(text=[Wait("first"), "Ended."]), Turn(text="Gone on.")),
    ]
    async with OpenAIServer(script) as model:
        config = model_config(model.base_url)
        one, two = (
            node(tmp_path, postgres, name, repository(tmp_path / name), config) for name in ("one", "two")
        )
        for server in (one, two):
            server.environ = {**server.environ, "OPENCODE_WEB_PARK": f"file://{tmp_path / 'place'}"}
        door = front(tmp_path, postgres)
        async with (
            begun(one, two),
            begun(door, verb="front"),
            through(door, "one") as client,
            through(door, "two") as there,
            client.events() as events,
        ):
            session = (await client.create_session(title="Said at one"))["id"]
            await client.prompt(session, "Say goodbye instead.")
            found = await workspace(door, lambda found: found["time_parked"] > 0)
            folder = tmp_path / "moved"
            await client.prompt_async(session, "Talk.")
            await until(events, "session.status", sessionID=session)
            assert "a turn runs" in await refusal(restored(there, "one", found["id"], folder))
            model.gate("first").open()
            await until(events, "session.idle", sessionID=session)
            (one.project / "by-hand").write_text("by hand")
            await restored(there, "one", found["id"], folder)
            assert (folder / "by-hand").read_text() == "by hand"
            await there.prompt(session, "Go on.")
            assert parts_of(await there.messages(session), "text")[-1]["text"] == "Gone on."
            message = (await client.messages(session))[0]["info"]["id"]
            body = {"messageID": message}
            assert "goes on at two" in await refusal(
                client.http.post(f"/session/{session}/revert", json=body)
            )


async def test_a_machine_is_drained(tmp_path: Path, postgres: PostgresServer) -> None:
    script = [Turn(text=[Wait("first"), "Ended."]), Turn(text="At last.")]
    async with OpenAIServer(script) as model:
        one = node(tmp_path, postgres, "one", repository(tmp_path / "one"), model_config(model.base_url))
        door = front(tmp_path, postgres)
        async with (
            begun(one),
            begun(door, verb="front"),
            through(door, "one") as client,
            client.events() as events,
        ):
            running, waiting = [(await client.create_session(title=name))["id"] for name in ("a", "b")]
            await client.prompt_async(running, "Talk.")
            await model.wait_for_request(1)
            assert one.command("node", "drain", "one").returncode == 0
            await client.prompt_async(waiting, "Talk, too.")
            project = (await client.session(waiting))["projectID"]
            assert "begins nothing more" in (await client.http.get(f"/p/{project}/s/{waiting}")).text
            model.gate("first").open()
            await until(events, "session.idle", sessionID=running)
            assert await client.messages(waiting) == []
            await seen(lambda: first(door), lambda machine: machine["state"] == "drained")
            assert one.command("node", "undrain", "one").returncode == 0
            await until(events, "session.idle", sessionID=waiting)
            assert parts_of(await client.messages(waiting), "text")[-1]["text"] == "At last."

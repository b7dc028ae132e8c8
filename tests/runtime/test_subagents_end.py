"""How errands end otherwise than by an answer: stopped, deleted, failed, cut off by a crash, undone."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.loopback.openai import OpenAIServer
from tests.loopback.script import HttpError, ToolUse, Turn, Wait
from tests.processes import noted
from tests.runtime.cast import AGENTS, Cast, cast, task, task_parts, until_output
from tests.server import Server, model_config, running, until


async def test_stopping_the_session_above_stops_them(home: Path, project: Path) -> None:
    sleep = ToolUse("bash", {"command": "echo $$ > pid; echo begun; exec sleep 600"})
    played = Cast(
        Parent=[Turn(tools=[task("First", "worker"), task("Second")])],
        First=[Turn(tools=[sleep])],
        Second=[Turn(text=["begun", Wait("never")])],
    )
    async with cast(home, project, played) as (client, _, _):
        parent = (await client.create_session("Parent"))["id"]
        async with client.events() as events:
            await client.prompt_async(parent, "Parent")
            await until_output(events, "begun")
            assert len(await client.status()) == 3
            await client.abort(parent)
            await until(events, "session.idle", sessionID=parent)
        assert await client.status() == {}
        assert not noted(project / "pid")
        for part in await task_parts(client, parent):
            assert part["state"]["status"] == "error"
            assert part["state"]["metadata"]["interrupted"] is True
            answer = (await client.messages(part["state"]["metadata"]["sessionId"]))[-1]
            assert answer["info"]["error"]["name"] == "MessageAbortedError"


async def test_deleting_the_session_above_stops_them(home: Path, project: Path) -> None:
    sleep = ToolUse("bash", {"command": "echo $$ > pid; echo begun; exec sleep 600"})
    played = Cast(Parent=[Turn(tools=[task("First", "worker")])], First=[Turn(tools=[sleep])])
    async with cast(home, project, played) as (client, _, _):
        parent = (await client.create_session("Parent"))["id"]
        async with client.events() as events:
            await client.prompt_async(parent, "Parent")
            await until_output(events, "begun")
            await client.delete_session(parent)
            await until(events, "session.idle", sessionID=parent)
        assert not noted(project / "pid")
        assert await client.sessions() == []


async def test_one_that_is_stopped_or_deleted_or_fails_is_told_above(home: Path, project: Path) -> None:
    standing = [Turn(text=["begun", Wait("never")])]
    played = Cast(
        Parent=[Turn(tools=[task("First"), task("Second"), task("Third")]), Turn(text="I see.")],
        First=standing,
        Second=standing,
        Third=[Turn(fault=HttpError(401, "bad key"))],
    )
    async with cast(home, project, played) as (client, _, _):
        parent = (await client.create_session("Parent"))["id"]
        async with client.events() as events:
            await client.prompt_async(parent, "Parent")
            await until(events, "message.part.delta", delta="begun")
            await until(events, "message.part.delta", delta="begun")
            first, second, _ = await client.get(f"/session/{parent}/children")
            await client.abort(first["id"])
            await client.delete_session(second["id"])
            await until(events, "session.idle", sessionID=parent)
        parts = await task_parts(client, parent)
        errors = [part["state"]["error"] for part in parts]
        assert "was stopped" in errors[0]
        assert first["id"] in errors[0]
        assert parts[0]["state"]["metadata"]["stopped"] is True
        assert "was deleted" in errors[1]
        assert "bad key" in errors[2]
        assert (await client.messages(parent))[-1]["info"]["finish"] == "stop"


async def test_a_crash_settles_both_and_runs_nothing_again(home: Path, project: Path) -> None:
    played = Cast(
        Parent=[Turn(tools=[task("First")]), Turn(text="I know.")],
        First=[Turn(text=["begun", Wait("never")])],
    )
    async with OpenAIServer(played) as model:
        server = Server(home, project, model_config(model.base_url, agent=AGENTS))
        await asyncio.to_thread(server.start)
        async with server.client() as client, client.events() as events:
            parent = (await client.create_session("Parent"))["id"]
            await client.prompt_async(parent, "Parent")
            await until(events, "message.part.delta", delta="begun")
        server.kill()
        async with running(server) as client:
            await client.prompt(parent, "What happened?")
            (part,) = await task_parts(client, parent)
            child = part["state"]["metadata"]["sessionId"]
            assert part["state"]["metadata"]["interrupted"] is True
            assert child in part["state"]["error"]
            assert child in str(played.bodies["Parent"][1]["messages"])
            history = await client.messages(child)
            assert [message["info"]["role"] for message in history] == ["user", "assistant"]
            assert history[1]["info"]["error"]["name"] == "MessageAbortedError"
            assert len(played.bodies["First"]) == 1
            assert await client.status() == {}


async def test_undo_takes_back_what_subagents_changed_for_the_turn(home: Path, project: Path) -> None:
    edit = ToolUse("edit", {"filePath": "hello.py", "oldString": "'hello'", "newString": "'goodbye'"})
    played = Cast(
        Parent=[Turn(tools=[task("First", "worker")]), Turn(text="Done.")],
        First=[
            Turn(tools=[edit, ToolUse("bash", {"command": "echo made > made.txt"})]),
            Turn(text="one"),
            Turn(tools=[ToolUse("bash", {"command": "echo later > later.txt"})]),
            Turn(text="two"),
        ],
    )
    async with cast(home, project, played) as (client, _, _):
        parent = (await client.create_session("Parent"))["id"]
        await client.prompt(parent, "Parent")
        (part,) = await task_parts(client, parent)
        child = part["state"]["metadata"]["sessionId"]
        await client.prompt(child, "And one more, not for the session above.")
        prompt_id = (await client.messages(parent))[0]["info"]["id"]
        changed = {diff["file"] for diff in await client.diff(parent, prompt_id)}
        assert changed == {"hello.py", "made.txt"}
        assert (await client.session(parent))["summary"]["files"] == 2
        await client.revert(parent, prompt_id)
        assert "'hello'" in (project / "hello.py").read_text()
        assert not (project / "made.txt").exists()
        assert (project / "later.txt").exists()
        await client.unrevert(parent)
        assert "goodbye" in (project / "hello.py").read_text()
        assert (project / "made.txt").read_text() == "made\n"
        await client.revert(child, (await client.messages(child))[0]["info"]["id"])
        assert "'hello'" in (project / "hello.py").read_text()
        assert not (project / "later.txt").exists()
        assert await client.diff(parent, prompt_id) == []

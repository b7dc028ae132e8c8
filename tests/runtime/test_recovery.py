"""kill -9 in mid-stream and in mid-tool, start again: nothing committed is lost, nothing stays open."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn, Wait
from tests.server import Server, model_config, parts_of, running, until


async def test_killed_in_mid_stream(home: Path, project: Path) -> None:
    script = [Turn(text=["kept ", Wait("flush"), "also", Wait("never")]), Turn(text="after")]
    async with OpenAIServer(script) as model:
        server = Server(home, project, model_config(model.base_url))
        await asyncio.to_thread(server.start)
        async with server.client() as client, client.events() as events:
            session = await client.create_session()
            await client.prompt_async(session["id"], "Talk.")
            await client.prompt_async(session["id"], "And again.")
            await until(events, "message.part.delta", delta="kept ")
            before = await client.messages(session["id"])
        server.kill()
        async with running(server) as client, client.events() as events:
            if (await client.status()).get(session["id"]):
                await until(events, "session.idle")
            history = await client.messages(session["id"])
            assert [message["info"]["id"] for message in history][: len(before)] == [
                message["info"]["id"] for message in before
            ]
            cut = history[1]["info"]
            assert cut["error"]["name"] == "MessageAbortedError"
            assert cut["time"]["completed"]
            while "after" not in [part["text"] for part in parts_of(history, "text")]:
                await until(events, "session.idle")
                history = await client.messages(session["id"])


async def test_killed_in_mid_tool(home: Path, project: Path) -> None:
    call = ToolUse("bash", {"command": "echo begun; exec sleep 600"})
    async with OpenAIServer([Turn(tools=[call]), Turn(text="I know.")]) as model:
        server = Server(home, project, model_config(model.base_url))
        await asyncio.to_thread(server.start)
        async with server.client() as client, client.events() as events:
            session = await client.create_session()
            await client.prompt_async(session["id"], "Sleep.")
            while True:
                event = await until(events, "message.part.updated")
                if event.properties["part"].get("state", {}).get("status") == "running":
                    break
        server.kill()
        async with running(server) as client:
            await client.prompt(session["id"], "What happened?")
            (part,) = parts_of(await client.messages(session["id"]), "tool")
            assert part["state"]["status"] == "error"
            assert part["state"]["metadata"]["interrupted"] is True
            assert "server ended" in str(model.requests[1].body["messages"])


async def test_killed_while_a_permission_waits(home: Path, project: Path) -> None:
    call = ToolUse("bash", {"command": "echo hi"})
    async with OpenAIServer([Turn(tools=[call]), Turn(text="ok")]) as model:
        server = Server(home, project, model_config(model.base_url, permission={"bash": "ask"}))
        await asyncio.to_thread(server.start)
        async with server.client() as client, client.events() as events:
            session = await client.create_session()
            await client.prompt_async(session["id"], "Run.")
            await until(events, "permission.asked")
        server.kill()
        async with running(server) as client:
            await client.prompt(session["id"], "Go on.")
            assert await client.permissions() == []
            (part,) = parts_of(await client.messages(session["id"]), "tool")
            assert part["state"]["error"].endswith("it was not run.")


async def test_sigterm_saves_the_partial_answer_and_exits_in_order(home: Path, project: Path) -> None:
    async with OpenAIServer([Turn(text=["partial", Wait("never")])]) as model:
        server = Server(home, project, model_config(model.base_url))
        await asyncio.to_thread(server.start)
        async with server.client() as client, client.events() as events:
            session = await client.create_session()
            await client.prompt_async(session["id"], "Talk.")
            await until(events, "message.part.delta", delta="partial")
        assert await asyncio.to_thread(server.stop) == 0
        async with running(server) as client:
            history = await client.messages(session["id"])
            assert parts_of(history, "text")[-1]["text"] == "partial"
            assert history[-1]["info"]["error"]["name"] == "MessageAbortedError"


@pytest.mark.sqlite
async def test_one_row_that_cannot_be_read_keeps_no_other_session_from_its_end(
    home: Path, project: Path
) -> None:
    """The damaged one says which row it is; who connects now hears of those that were settled before."""

    def answer(body: Any) -> Turn:
        again = "again" in str(body["messages"][-1]["content"])
        return Turn(text="after") if again else Turn(text=["kept ", Wait("never")])

    async with OpenAIServer(answer) as model:
        server = Server(home, project, model_config(model.base_url))
        await asyncio.to_thread(server.start)
        async with server.client() as client, client.events() as events:
            sessions = [(await client.create_session(title="named"))["id"] for _ in range(3)]
            for session in sessions:
                await client.prompt_async(session, "Talk.")
                await client.prompt_async(session, "And again.")
                await until(events, "message.part.delta", delta="kept ", sessionID=session)
            damaged = (await client.messages(sessions[1]))[1]["info"]["id"]
        server.kill()
        with closing(sqlite3.connect(server.data / "db.sqlite3")) as rows, rows:
            change = (
                "update opencode_sessions_message set data = json_remove(data, '$.parentID') where id = ?"
            )
            assert rows.execute(change, [damaged]).rowcount == 1
        async with running(server) as client, client.events() as events:
            idle: set[str] = set()
            while not idle >= {sessions[0], sessions[2]}:
                idle.add((await until(events, "session.idle")).properties["sessionID"])
            for session in (sessions[0], sessions[2]):
                history = await client.messages(session)
                while "after" not in [part["text"] for part in parts_of(history, "text")]:
                    await until(events, "session.idle")
                    history = await client.messages(session)
                assert history[1]["info"]["error"]["name"] == "MessageAbortedError"
            while (await client.status()).get(sessions[1]):
                await until(events, "session.idle", sessionID=sessions[1])
            async with client.events() as later:
                told = await until(later, "session.idle", sessionID=sessions[0])
                assert told.properties == {"sessionID": sessions[0]}
            error = (await client.messages(sessions[1]))[1]["info"]["error"]
            assert f"message {damaged} " in error["data"]["message"]


async def test_a_second_server_on_one_data_folder_says_so_and_refuses(home: Path, project: Path) -> None:
    server = Server(home, project)
    async with running(server) as client:
        second = Server(home, project)
        with pytest.raises(RuntimeError) as refused:
            await asyncio.to_thread(second.start)
        assert f"the server at {server.url}" in str(refused.value)
        assert "REDIS_URL" in str(refused.value)
        beside = Server(home, project, environ={"OPENCODE_WEB_PRIVATE": "1"})
        async with running(beside) as own:
            assert (await own.health())["healthy"]
        assert (await client.health())["healthy"]
    async with running(second) as client:
        assert (await client.health())["healthy"]

"""kill -9 in mid-stream and in mid-tool, start again: nothing committed is lost, nothing stays open."""

from __future__ import annotations

import asyncio
from pathlib import Path

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

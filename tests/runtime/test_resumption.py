"""kill -9 in the middle of a turn, start again, go on: it comes to its end, and no call runs twice."""

from __future__ import annotations

import asyncio
import contextlib
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest

from bench.client import Client
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Body, ToolUse, Turn, Wait
from tests.runtime.test_crashes import crash
from tests.server import PATIENCE, Server, model_config, parts_of, running, until

LASTING = ToolUse("bash", {"command": "echo ran >> ran.txt; echo be''gun; exec sleep 600"})


async def cut_off(server: Server, sign: str) -> str:
    """Prompt, and kill the server when its rows hold this text; the session's id."""
    await asyncio.to_thread(server.start)
    async with server.client() as client:
        session = await client.create_session(title="named")
        await client.prompt_async(session["id"], "Work.")
        await shown(client, session["id"], sign)
    server.kill()
    return str(session["id"])


async def shown(client: Client, session_id: str, sign: str) -> None:
    """The last answer holds it, and a crash would leave it there."""
    async with asyncio.timeout(PATIENCE):
        while sign not in str((await client.messages(session_id))[-1:]):
            pass


async def ended(client: Client, session_id: str, text: str) -> list[dict[str, Any]]:
    """The history, once the turn has said this last."""
    async with client.events() as events:
        while True:
            history = await client.messages(session_id)
            texts = [part["text"] for part in parts_of(history[-1:], "text")]
            if texts == [text] and not (await client.status()).get(session_id):
                return history
            await until(events, "session.idle", sessionID=session_id)


def roles(history: list[dict[str, Any]]) -> list[str]:
    return [message["info"]["role"] for message in history]


async def test_in_mid_stream_one_call_brings_it_to_its_end(home: Path, project: Path) -> None:
    script = [Turn(text=["One, two", Wait("never")]), Turn(text=", three.")]
    async with OpenAIServer(script) as model:
        server = Server(home, project, model_config(model.base_url))
        session_id = await cut_off(server, "One, two")
        async with running(server) as client:
            await shown(client, session_id, "MessageAbortedError")
            assert len(model.requests) == 1, "ask is the default"
            await client.post(f"/session/{session_id}/resume")
            history = await ended(client, session_id, ", three.")
            assert roles(history) == ["user", "assistant", "assistant"]
            prompt, cut, last = (message["info"] for message in history)
            assert cut["parentID"] == last["parentID"] == prompt["id"]
            assert "server ended" in cut["error"]["data"]["message"]
            assert "error" not in last
            *_, said, note = model.requests[1].body["messages"]
            assert (said["role"], said["content"]) == ("assistant", "One, two")
            assert note["role"] == "user"
            assert "cut off here" in note["content"]
            with pytest.raises(httpx.HTTPStatusError) as refused:
                await client.post(f"/session/{session_id}/resume")
            assert refused.value.response.status_code == 400


async def test_in_mid_tool_by_itself_and_no_call_is_repeated(home: Path, project: Path) -> None:
    """Also when the server is killed again while the turn goes on; the third time it asks."""
    script = [
        Turn(tools=[ToolUse("read", {"filePath": "hello.py"})]),
        Turn(text="I run it.", tools=[LASTING]),
        Turn(text=["again", Wait("never")]),
        Turn(text=["once more", Wait("never")]),
        Turn(text="Done."),
    ]
    async with OpenAIServer(script) as model:
        server = Server(home, project, model_config(model.base_url, resume="auto"))
        session_id = await cut_off(server, "begun")
        for sign in ("again", "once more"):
            await asyncio.to_thread(server.start)
            async with server.client() as client:
                await shown(client, session_id, sign)
            server.kill()
        async with running(server) as client:
            await shown(client, session_id, "MessageAbortedError")
            history = await client.messages(session_id)
            assert len(history) == len(model.requests) + 1 == 5
            await client.post(f"/session/{session_id}/resume")
            history = await ended(client, session_id, "Done.")
            assert roles(history) == ["user"] + ["assistant"] * 5
            assert (project / "ran.txt").read_text() == "ran\n"
            calls = parts_of(history, "tool")
            assert [call["state"]["status"] for call in calls] == ["completed", "error"]
            results = [body for body in model.requests[2].body["messages"] if body["role"] == "tool"]
            assert "def hello" in results[0]["content"]
            assert "unknown" in results[1]["content"]
            bodies = [request.body["messages"] for request in model.requests]
            for earlier, later in pairwise(bodies):
                assert later[: len(earlier)] == earlier, "what the provider has in its cache stays"


async def test_killed_before_it_asks_again(home: Path, project: Path) -> None:
    async with OpenAIServer([Turn(text=["One", Wait("never")]), Turn(text="Two.")]) as model:
        server = Server(home, project, model_config(model.base_url, resume="auto"))
        session_id = await cut_off(server, "One")
        dying = Server(
            home, project, server.config, {"CRASH_AT": "a turn goes on"}, module="tests.runtime.crashing"
        )
        with contextlib.suppress(RuntimeError):  # it may end before it answers
            await asyncio.to_thread(dying.start)
        assert dying.process is not None
        assert await asyncio.to_thread(dying.process.wait, PATIENCE) == -9
        async with running(server) as client:
            history = await ended(client, session_id, "Two.")
            assert roles(history) == ["user", "assistant", "assistant"]


async def test_a_stop_in_order_says_so_and_goes_on_by_itself(home: Path, project: Path) -> None:
    """SIGTERM, as an upgrade does it: nobody has stopped the turn."""
    async with OpenAIServer([Turn(text=["One", Wait("never")]), Turn(text="Two.")]) as model:
        server = Server(home, project, model_config(model.base_url, resume="auto"))
        await asyncio.to_thread(server.start)
        async with server.client() as client, client.events() as events:
            session = await client.create_session(title="named")
            await client.prompt_async(session["id"], "Count.")
            await until(events, "message.part.delta")
        assert await asyncio.to_thread(server.stop) == 0
        async with running(server) as client:
            history = await ended(client, session["id"], "Two.")
            assert "server ended" in history[1]["info"]["error"]["data"]["message"]


@pytest.mark.parametrize(("point", "said"), [("settled", "Done."), ("before a tool settles", "Done.")])
async def test_at_the_points_of_a_step(home: Path, project: Path, point: str, said: str) -> None:
    """Between two steps, and where a call has done its work and nobody has said so yet."""
    script = [
        Turn(text="I look. ", tools=[ToolUse("write", {"filePath": "made.txt", "content": "made"})]),
        Turn(text="Done."),
    ]
    async with OpenAIServer(script) as model:
        server = Server(home, project, model_config(model.base_url, resume="auto"))
        session_id = await crash(server, point)
        async with running(server) as client:
            history = await ended(client, session_id, said)
            assert roles(history) == ["user", "assistant", "assistant"]
            assert len(parts_of(history, "tool")) == 1


async def test_what_a_person_stopped_goes_on_when_they_say_so_and_not_before(
    home: Path, project: Path
) -> None:
    async with OpenAIServer([Turn(text=["One", Wait("never")]), Turn(text="Two.")]) as model:
        server = Server(home, project, model_config(model.base_url, resume="auto"))
        async with running(server) as client, client.events() as events:
            session = await client.create_session(title="named")
            await client.prompt_async(session["id"], "Count.")
            await until(events, "message.part.delta")
            await client.post(f"/session/{session['id']}/abort")
            await until(events, "session.idle")
        async with running(server) as client:
            assert len(model.requests) == 1
            await client.post(f"/session/{session['id']}/resume")
            await ended(client, session["id"], "Two.")
            assert "wants it to go on" in model.requests[1].body["messages"][-1]["content"]


async def test_the_turn_sends_the_subagent_on_that_was_cut_off_with_it(home: Path, project: Path) -> None:
    errand = {"description": "Count", "prompt": "Count.", "subagent_type": "general"}
    turns = iter(
        ["errand", Turn(text=["half", Wait("never")]), "errand", Turn(text="whole"), Turn(text="Done.")]
    )

    def play(body: Body) -> Turn:
        turn = next(turns)
        if isinstance(turn, Turn):
            return turn
        told = re.search(r"task_id (ses_\w+)", str(body["messages"]))
        return Turn(tools=[ToolUse("task", errand | ({"task_id": told[1]} if told else {}))])

    async with OpenAIServer(play) as model:
        server = Server(home, project, model_config(model.base_url, resume="auto"))
        await asyncio.to_thread(server.start)
        async with server.client() as client, client.events() as events:
            session = await client.create_session(title="named")
            await client.prompt_async(session["id"], "Work.")
            await until(events, "message.part.delta", delta="half")
        server.kill()
        async with running(server) as client:
            history = await ended(client, session["id"], "Done.")
            assert roles(history) == ["user"] + ["assistant"] * 3
            cut, done = parts_of(history, "tool")
            assert "whole" in done["state"]["output"]
            (child,) = await client.get(f"/session/{session['id']}/children")
            assert cut["state"]["metadata"]["sessionId"] == child["id"]
            assert roles(await client.messages(child["id"])) == ["user", "assistant"] * 2

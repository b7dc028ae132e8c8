"""Steer and queue in whole turns: when a prompt is promoted, and what holds until then."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from bench.client import Client, Event
from sessions.core.ids import ascending
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Body, ToolUse, Turn, Wait
from tests.server import Server, model_config, parts_of, running, serving, until


def waits_for(fifo: Path) -> ToolUse:
    """A tool call that runs until somebody writes into a FIFO of the project."""
    os.mkfifo(fifo)
    return ToolUse("bash", {"command": f"cat {fifo.name}"})


async def tool_runs(events: AsyncIterator[Event]) -> None:
    while True:
        part = (await until(events, "message.part.updated")).properties["part"]
        if part.get("tool") == "bash" and part["state"]["status"] == "running":
            return


async def go_on(fifo: Path) -> None:
    await asyncio.to_thread(fifo.write_text, "opened\n")


def asked(body: Body) -> list[str]:
    """What the user said in a request, oldest first."""
    return [message["content"] for message in body["messages"] if message["role"] == "user"]


def said(history: Sequence[dict[str, Any]]) -> list[str]:
    return [part["text"] for part in parts_of(list(history), "text")]


async def test_a_steer_joins_the_running_turn_at_its_next_step(home: Path, project: Path) -> None:
    fifo = project / "go-on"
    script = [Turn(text="I begin.", tools=[waits_for(fifo)]), Turn(text="As you say.")]
    async with serving(home, project, script) as (client, model), client.events() as events:
        session = await client.create_session(title="named")
        await client.prompt_async(session["id"], "Count to ten.")
        await tool_runs(events)
        await client.prompt_async(session["id"], "Stop at two.", delivery="steer")
        assert len(model.requests) == 1
        await go_on(fifo)
        await until(events, "session.idle")
        roles = [message["role"] for message in model.requests[1].body["messages"]]
        assert roles[-3:] == ["assistant", "tool", "user"]
        assert asked(model.requests[1].body)[-1] == "Stop at two."
        history = await client.messages(session["id"])
        assert said(history) == ["Count to ten.", "I begin.", "Stop at two.", "As you say."]
        assert history[3]["info"]["parentID"] == history[2]["info"]["id"]
        assert len(model.requests) == 2
        assert await client.status() == {}


async def test_steers_at_one_boundary_come_in_order_and_reset_the_allowance(
    home: Path, project: Path
) -> None:
    fifo = project / "go-on"
    look = ToolUse("list", {})
    script = [
        Turn(tools=[look]),
        Turn(tools=[waits_for(fifo)]),
        Turn(tools=[look]),
        Turn(tools=[look]),
        Turn(text="Out of steps."),
    ]
    config = {"agent": {"build": {"steps": 2}}}
    async with serving(home, project, script, **config) as (client, model), client.events() as events:
        session = await client.create_session(title="named")
        await client.prompt_async(session["id"], "Begin.")
        await tool_runs(events)
        for words in ("First.", "Second."):
            await client.prompt_async(session["id"], words, delivery="steer")
        await go_on(fifo)
        await until(events, "session.idle")
        bodies = [request.body for request in model.requests]
        assert asked(bodies[1]) == ["Begin."]
        assert asked(bodies[2]) == asked(bodies[4])[:3] == ["Begin.", "First.", "Second."]
        assert [bool(body.get("tools")) for body in bodies] == [True, True, True, True, False]


async def test_a_queue_runs_one_by_one(home: Path, project: Path) -> None:
    script = [Turn(text=["A", Wait("go"), "."]), Turn(text="B."), Turn(text="C."), Turn(text="D.")]
    async with serving(home, project, script) as (client, model), client.events() as events:
        session = await client.create_session(title="named")
        await client.prompt_async(session["id"], "One.")
        await until(events, "message.part.delta", delta="A")
        for words in ("Two.", "Three.", "Four."):
            await client.prompt_async(session["id"], words)
        assert len(await client.messages(session["id"])) == 2
        model.gate("go").open()
        for _ in range(4):
            await until(events, "session.idle")
        assert [asked(request.body)[-1] for request in model.requests] == ["One.", "Two.", "Three.", "Four."]
        history = await client.messages(session["id"])
        assert said(history) == ["One.", "A.", "Two.", "B.", "Three.", "C.", "Four.", "D."]


async def test_changes_hold_until_promotion_and_not_after(home: Path, project: Path) -> None:
    fifo = project / "go-on"
    script = [Turn(tools=[waits_for(fifo)]), Turn(text="Steered."), Turn(text="B."), Turn(text="C.")]
    async with serving(home, project, script) as (client, model), client.events() as events:
        session = await client.create_session(title="named")
        inbox = f"/p/{session['projectID']}/s/{session['id']}/inbox"
        await client.prompt_async(session["id"], "Begin.")
        await tool_runs(events)
        ids = {name: ascending("msg") for name in ("edited", "moved", "switched", "withdrawn")}
        for name, prompt_id in ids.items():
            await client.prompt_async(session["id"], f"{name} later", messageID=prompt_id)

        async def change(name: str, what: str, **form: str) -> httpx.Response:
            return await client.http.post(f"{inbox}/{ids[name]}/{what}", data=form)

        await change("edited", "edit", text="Edited.")
        await change("moved", "move", by="-1")
        await change("switched", "switch", delivery="steer")
        await change("withdrawn", "withdraw")
        await go_on(fifo)
        for _ in range(3):
            await until(events, "session.idle")
        expected = ["Begin.", "switched later", "moved later", "Edited."]
        assert asked(model.requests[-1].body) == expected
        assert len(model.requests) == 4
        assert "already being worked on" in (await change("moved", "withdraw")).text
        with pytest.raises(httpx.HTTPStatusError, match="422"):
            await change("moved", "edit", text="too late")
        prompts = [row for row in await client.messages(session["id"]) if row["info"]["role"] == "user"]
        assert said(prompts) == expected


async def test_killed_with_prompts_that_wait(home: Path, project: Path) -> None:
    script = [Turn(text=["kept ", Wait("never")]), Turn(text="S."), Turn(text="Q1."), Turn(text="Q2.")]
    async with OpenAIServer(script) as model:
        server = Server(home, project, model_config(model.base_url))
        await asyncio.to_thread(server.start)
        async with server.client() as client, client.events() as events:
            session = await client.create_session(title="named")
            await client.prompt_async(session["id"], "Talk.")
            await until(events, "message.part.delta", delta="kept ")
            for words, delivery in (("One.", "queue"), ("Two.", "queue"), ("Now.", "steer")):
                await client.prompt_async(session["id"], words, delivery=delivery)
        server.kill()
        async with running(server) as client:
            await answered(client, session["id"], "Q2.")
            prompts = [asked(request.body)[-1] for request in model.requests]
            assert prompts == ["Talk.", "Now.", "One.", "Two."]
            history = await client.messages(session["id"])
            users = [message for message in history if message["info"]["role"] == "user"]
            assert said(users) == ["Talk.", "Now.", "One.", "Two."]
            assert history[1]["info"]["error"]["name"] == "MessageAbortedError"


async def answered(client: Client, session_id: str, words: str) -> None:
    """Return when an answer has these words; the turns may have begun before anybody listened."""
    async with client.events() as events:
        while words not in said(await client.messages(session_id)):
            await until(events, "session.idle")


async def test_a_withdrawn_prompt_is_answered_at_once(home: Path, project: Path) -> None:
    script = [Turn(text=["A", Wait("go")])]
    async with serving(home, project, script) as (client, model), client.events() as events:
        session = await client.create_session(title="named")
        await client.prompt_async(session["id"], "Begin.")
        await until(events, "message.part.delta", delta="A")
        mind = ascending("msg")
        waits = asyncio.create_task(client.prompt(session["id"], "Never mind.", messageID=mind))
        inbox = f"/p/{session['projectID']}/s/{session['id']}/inbox"
        while (await client.http.post(f"{inbox}/{mind}/withdraw")).status_code != 204:
            pass  # it has not arrived yet
        assert (await waits)["info"]["role"] == "assistant"
        model.gate("go").open()
        await until(events, "session.idle")
        assert len(model.requests) == 1


async def test_a_delivery_and_a_part_that_do_not_exist_are_named(home: Path, project: Path) -> None:
    async with serving(home, project, [Turn(text="Fine.")]) as (client, _):
        session = await client.create_session(title="named")
        for wrong, name in (
            ({"delivery": "soon"}, "delivery"),
            ({"parts": [{"type": "file", "mime": "text/plain"}]}, "parts: file.url"),
        ):
            body = {"parts": [{"type": "text", "text": "Hello"}], **wrong}
            with pytest.raises(httpx.HTTPStatusError) as refused:
                await client.post(f"/session/{session['id']}/prompt_async", body)
            assert refused.value.response.status_code == 400
            assert name in refused.value.response.json()["data"]["message"]
        assert said([await client.prompt(session["id"], "Hello")]) == ["Fine."]


async def test_a_fork_goes_on_by_itself(home: Path, project: Path) -> None:
    async with serving(home, project, [Turn(text="One."), Turn(text="Two.")]) as (client, model):
        session = await client.create_session(title="named")
        await client.prompt(session["id"], "First.")
        fork = await client.post(f"/session/{session['id']}/fork")
        assert fork["title"] == "named (fork #1)"
        await client.prompt(fork["id"], "Second.")
        assert asked(model.requests[-1].body) == ["First.", "Second."]
        assert said(await client.messages(session["id"])) == ["First.", "One."]
        with pytest.raises(httpx.HTTPStatusError, match="404"):
            await client.post(f"/session/{session['id']}/fork", {"messageID": "msg_unknown"})

"""Whole turns through the real server against a loopback model: text, tools, permissions, undo."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest

from tests.loopback.anthropic import AnthropicServer
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Cut, HttpError, ToolUse, Turn, Wait
from tests.loopback.server import LoopbackServer
from tests.processes import noted
from tests.server import Server, model_config, parts_of, running, serving, until

EDIT = {"filePath": "hello.py", "oldString": "'hello'", "newString": "'goodbye'"}


@pytest.mark.parametrize(
    ("server_class", "npm"),
    [(OpenAIServer, "@ai-sdk/openai-compatible"), (AnthropicServer, "@ai-sdk/anthropic")],
)
async def test_text_and_tools_in_both_protocols(
    home: Path, project: Path, server_class: type[LoopbackServer], npm: str
) -> None:
    script = [
        Turn(text=["I look ", "first."], tools=[ToolUse("read", {"filePath": "hello.py"})]),
        Turn(tools=[ToolUse("edit", EDIT), ToolUse("bash", {"command": "echo made > made.txt"})]),
        Turn(text="Done."),
    ]
    async with (
        server_class(script) as model,
        running(Server(home, project, model_config(model.base_url, npm))) as client,
    ):
        session = await client.create_session()
        answer = await client.prompt(session["id"], "Say goodbye instead.")
        assert [part["text"] for part in answer["parts"] if part["type"] == "text"] == ["Done."]
        history = await client.messages(session["id"])
        assert [part["state"]["status"] for part in parts_of(history, "tool")] == ["completed"] * 3
        assert [message["info"]["role"] for message in history] == ["user"] + ["assistant"] * 3
        assert "goodbye" in (project / "hello.py").read_text()
        diffs = await client.diff(session["id"], history[0]["info"]["id"])
        changed = {diff["file"]: diff["status"] for diff in diffs}
        assert changed == {"hello.py": "modified", "made.txt": "added"}
        await client.revert(session["id"], history[0]["info"]["id"])
        assert "'hello'" in (project / "hello.py").read_text()
        assert not (project / "made.txt").exists()
        await client.unrevert(session["id"])
        assert "goodbye" in (project / "hello.py").read_text()
        assert (project / "made.txt").read_text() == "made\n"


async def test_what_the_model_is_sent_grows_at_its_end_only(home: Path, project: Path) -> None:
    script = [Turn(tools=[ToolUse("list", {})]), Turn(text="One."), Turn(text="Two.")]
    async with serving(home, project, script) as (client, model):
        session = await client.create_session(title="named")
        await client.prompt(session["id"], "First.")
        await client.prompt(session["id"], "Second.")
        bodies = [request.body["messages"] for request in model.requests]
        assert len(bodies) == 3
        for earlier, later in pairwise(bodies):
            assert later[: len(earlier)] == earlier


async def test_a_permission_waits_and_is_answered_once(home: Path, project: Path) -> None:
    script = [Turn(tools=[ToolUse("edit", EDIT)]), Turn(text="Edited.")]
    async with OpenAIServer(script) as model:
        config = model_config(model.base_url, permission={"edit": "ask"})
        async with running(Server(home, project, config)) as client, client.events() as events:
            session = await client.create_session()
            await client.prompt_async(session["id"], "Edit it.")
            asked = await until(events, "permission.asked")
            assert "-    return 'hello'" in asked.properties["metadata"]["diff"]
            assert "'hello'" in (project / "hello.py").read_text()
            answers = await asyncio.gather(
                client.reply(asked.properties["id"], "once"),
                client.reply(asked.properties["id"], "reject"),
                return_exceptions=True,
            )
            assert sum(answer is None for answer in answers) == 1
            await until(events, "session.idle")
            assert await client.permissions() == []


async def test_words_of_a_rejection_reach_the_model(home: Path, project: Path) -> None:
    script = [Turn(tools=[ToolUse("edit", EDIT)]), Turn(text="I see.")]
    async with OpenAIServer(script) as model:
        config = model_config(model.base_url, permission={"edit": "ask"})
        async with running(Server(home, project, config)) as client, client.events() as events:
            session = await client.create_session()
            await client.prompt_async(session["id"], "Edit it.")
            asked = await until(events, "permission.asked")
            await client.reply(asked.properties["id"], "reject", "rename it instead")
            await until(events, "session.idle")
            assert "rename it instead" in str(model.requests[1].body["messages"][-1])
            assert "'hello'" in (project / "hello.py").read_text()


async def test_always_is_remembered_and_deny_beats_it(home: Path, project: Path) -> None:
    call = ToolUse("bash", {"command": "git status"})
    script = [turn for text in "abc" for turn in (Turn(tools=[call]), Turn(text=text))]
    async with OpenAIServer(script) as model:
        config = model_config(model.base_url, permission={"bash": "ask"})
        server = Server(home, project, config)
        async with running(server) as client, client.events() as events:
            session = await client.create_session()
            await client.prompt_async(session["id"], "Status?")
            asked = await until(events, "permission.asked")
            await client.reply(asked.properties["id"], "always")
            await until(events, "session.idle")
            await client.prompt(session["id"], "Again?")
            parts = parts_of(await client.messages(session["id"]), "tool")
            assert [part["state"]["status"] for part in parts] == ["completed", "completed"]
        server.config = model_config(model.base_url, permission={"bash": {"git *": "deny"}})
        async with running(server) as client:
            session = await client.create_session()
            await client.prompt(session["id"], "And now?")
            (part,) = parts_of(await client.messages(session["id"]), "tool")
            assert part["state"]["status"] == "error"
            assert "deny" in part["state"]["error"]


async def test_stop_keeps_what_was_said_and_ends_the_children(home: Path, project: Path) -> None:
    command = "echo $$ > pid; echo begun; sleep 600"
    script = [Turn(text="Wait.", tools=[ToolUse("bash", {"command": command})])]
    async with serving(home, project, script) as (client, _), client.events() as events:
        session = await client.create_session()
        await client.prompt_async(session["id"], "Sleep.")
        while True:
            event = await until(events, "message.part.updated")
            state = event.properties["part"].get("state", {})
            if "begun" in (state.get("metadata") or {}).get("output", ""):
                break
        await client.abort(session["id"])
        await until(events, "session.idle")
        history = await client.messages(session["id"])
        (part,) = parts_of(history, "tool")
        assert part["state"]["status"] == "error"
        assert history[-1]["info"]["error"]["name"] == "MessageAbortedError"
        assert parts_of(history, "text")[-1]["text"] == "Wait."
        assert not noted(project / "pid")


async def test_a_prompt_while_busy_is_queued_and_runs(home: Path, project: Path) -> None:
    script = [Turn(text=["one", Wait("go")]), Turn(text="two")]
    async with serving(home, project, script) as (client, model):
        session = await client.create_session()
        first = asyncio.create_task(client.prompt(session["id"], "First."))
        await model.wait_for_request(1)
        second = asyncio.create_task(client.prompt(session["id"], "Second."))
        async with client.events() as events:
            model.gate("go").open()
            await until(events, "session.idle")
        await asyncio.gather(first, second)
        texts = [part["text"] for part in parts_of(await client.messages(session["id"]), "text")]
        assert texts == ["First.", "one", "Second.", "two"]


async def test_retry_is_shown_and_follows_the_headers(home: Path, project: Path) -> None:
    script = [
        Turn(fault=HttpError(429, "slow down", headers={"retry-after-ms": "20"})),
        Turn(text=["half"], fault=Cut(after=1)),
        Turn(text="whole"),
    ]
    async with serving(home, project, script) as (client, _), client.events() as events:
        session = await client.create_session()
        await client.prompt_async(session["id"], "Go.")
        status = await until(events, "session.status")
        while status.properties["status"]["type"] != "retry":
            status = await until(events, "session.status")
        assert status.properties["status"]["next"] > 0
        await until(events, "session.idle")
        history = await client.messages(session["id"])
        assert history[-1]["info"]["finish"] == "stop"
        spoken = [part["text"] for part in parts_of(history[1:], "text") if not part.get("ignored")]
        assert spoken == ["whole"]


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        (Turn(tools=[ToolUse("READ", {"filePath": "hello.py"})]), "return 'hello'"),
        (Turn(tools=[ToolUse("read", '{"filePath": ')]), "JSON"),
        (Turn(tools=[ToolUse("teleport", {})]), "teleport"),
        (Turn(tools=[ToolUse("read", {})]), "filePath"),
    ],
)
async def test_wrong_calls_are_repaired_or_told(home: Path, project: Path, turn: Turn, expected: str) -> None:
    async with serving(home, project, [turn, Turn(text="ok")]) as (client, model):
        session = await client.create_session()
        await client.prompt(session["id"], "Call.")
        assert expected in str(model.requests[1].body["messages"][-1])


async def test_errors_of_the_provider_are_told(home: Path, project: Path) -> None:
    script = [Turn(fault=HttpError(401, "bad key"))]
    async with serving(home, project, script) as (client, _):
        session = await client.create_session()
        answer = await client.prompt(session["id"], "Go.")
        assert answer["info"]["error"]["name"] == "ProviderAuthError"
        assert (await client.status()) == {}


async def test_the_same_call_a_third_time_asks(home: Path, project: Path) -> None:
    call = ToolUse("list", {})
    script = [Turn(tools=[call])] * 3 + [Turn(text="enough")]
    async with OpenAIServer(script) as model:
        config = model_config(model.base_url, permission={})
        async with running(Server(home, project, config)) as client, client.events() as events:
            session = await client.create_session()
            await client.prompt_async(session["id"], "List.")
            asked = await until(events, "permission.asked")
            assert asked.properties["permission"] == "doom_loop"
            await client.reply(asked.properties["id"], "once")
            await until(events, "session.idle")


async def test_the_title_comes_from_the_small_model(home: Path, project: Path) -> None:
    async with (
        OpenAIServer([Turn(text="Hi.")], title="Greeting a stranger") as model,
        running(Server(home, project, model_config(model.base_url))) as client,
        client.events() as events,
    ):
        session = await client.create_session()
        await client.prompt_async(session["id"], "Hello?")
        while (await until(events, "session.updated")).properties["info"]["title"] != "Greeting a stranger":
            pass

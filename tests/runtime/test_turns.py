"""Whole turns through the real server against a loopback model: text, tools, permissions, undo."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import pytest

from tests.loopback.anthropic import AnthropicServer
from tests.loopback.openai import OpenAIServer
from tests.loopback.responses import ResponsesServer
from tests.loopback.script import Cut, HttpError, TokenUsage, ToolUse, Turn, Wait
from tests.loopback.server import LoopbackServer
from tests.processes import noted
from tests.server import Server, model_config, parts_of, running, serving, until

EDIT = {"filePath": "hello.py", "oldString": "'hello'", "newString": "'goodbye'"}


@pytest.mark.parametrize(
    ("server_class", "npm"),
    [
        (OpenAIServer, "@ai-sdk/openai-compatible"),
        (AnthropicServer, "@ai-sdk/anthropic"),
        (ResponsesServer, "@ai-sdk/openai"),
    ],
)
async def test_text_and_tools_in_every_protocol(
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


SEARCH = {
    "type": "web_search_call",
    "id": "ws_1",
    "status": "completed",
    "action": {"type": "search", "query": "hello", "sources": [{"type": "url", "url": "https://a.example/"}]},
}
USE = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "hello"}}
PAGE = {"type": "web_search_result", "url": "https://a.example/", "title": "", "encrypted_content": "x"}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [PAGE]}


@pytest.mark.parametrize(
    ("server_class", "npm", "hosted"),
    [(ResponsesServer, "@ai-sdk/openai", [SEARCH]), (AnthropicServer, "@ai-sdk/anthropic", [USE, FOUND])],
)
async def test_what_the_provider_ran_is_shown_and_goes_back_in_its_place(
    home: Path, project: Path, server_class: type[LoopbackServer], npm: str, hosted: list[dict[str, Any]]
) -> None:
    found = Turn(reasoning="Hm.", signature="sealed", hosted=hosted, tools=[ToolUse("list", {})])
    script = [found, Turn(text="Done.")]
    async with (
        server_class(script) as model,
        running(Server(home, project, model_config(model.base_url, npm))) as client,
    ):
        session = await client.create_session(title="named")
        await client.prompt(session["id"], "Look it up.")
        searched, listed = parts_of(await client.messages(session["id"]), "tool")
        assert (searched["tool"], searched["state"]["status"]) == ("web_search", "completed")
        assert searched["state"]["output"] == "https://a.example/"
        assert searched["state"]["input"] == {"query": "hello"}
        assert searched["metadata"]["providerExecuted"]
        assert listed["tool"] == "list"
        sent = model.requests[-1].body
        if npm == "@ai-sdk/openai":
            kinds = [item["type"] for item in sent["input"]]
            assert kinds[:4] == ["message", "reasoning", "web_search_call", "function_call"]
            assert sent["input"][2] == SEARCH
            assert sent["prompt_cache_key"] == session["id"]
        else:
            assert sent["messages"][1]["content"][:2] == [USE, FOUND]


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


async def test_the_model_is_told_to_write_in_parts(home: Path, project: Path) -> None:
    cut = Turn(tools=[ToolUse("write", '{"content": "On')], finish="length", usage=TokenUsage(output=4096))
    async with serving(home, project, [cut, Turn(text="I will.")]) as (client, server):
        session = await client.create_session(title="named")
        await client.prompt(session["id"], "Write.")
        (part,) = parts_of(await client.messages(session["id"]), "tool")
        assert "cut at 4,096 output tokens" in str(part["state"])
        assert "write it in parts" in str(server.requests[-1].body["messages"][-1])


async def test_the_limit_is_raised_after_a_cut_where_the_model_has_room(home: Path, project: Path) -> None:
    cut = Turn(tools=[ToolUse("write", '{"content": "On')], finish="length", usage=TokenUsage(output=32_000))
    async with OpenAIServer([cut, Turn(text="So."), Turn(text="Again.")]) as model:
        config = model_config(model.base_url)
        config["provider"]["fake"]["models"]["fake"]["limit"]["output"] = 64_000
        async with running(Server(home, project, config)) as client:
            session = await client.create_session(title="named")
            await client.prompt(session["id"], "Write.")
            await client.prompt(session["id"], "And more.")
        limits = [request.body["max_tokens"] for request in model.requests]
        assert limits == [32_000, 64_000, 32_000]


@pytest.mark.parametrize(
    ("finish", "name", "words"),
    [
        ("length", "MessageOutputLengthError", "cut at 40 output tokens"),
        ("content-filter", "ContentFilterError", "choose another model"),
    ],
)
async def test_an_answer_that_was_cut_short_says_so(
    home: Path, project: Path, finish: Literal["length", "content-filter"], name: str, words: str
) -> None:
    cut = Turn(text="On", finish=finish, usage=TokenUsage(output=40))
    async with serving(home, project, [cut]) as (client, _):
        session = await client.create_session(title="named")
        answer = await client.prompt(session["id"], "Write.")
        assert answer["info"]["error"]["name"] == name
        assert words in answer["info"]["error"]["data"]["message"]
        assert [part["text"] for part in answer["parts"] if part["type"] == "text"] == ["On"]


@pytest.mark.parametrize("empty", [Turn(), Turn(reasoning="Hm."), Turn(text="\n")])
async def test_an_answer_without_a_word_is_asked_for_once_more(
    home: Path, project: Path, empty: Turn
) -> None:
    empty = replace(empty, usage=TokenUsage(input=7, output=3))
    script = [empty, Turn(text="Yes.", usage=TokenUsage(input=5, output=2)), empty, empty]
    async with serving(home, project, script) as (client, model):
        session = await client.create_session(title="named")
        answer = await client.prompt(session["id"], "Well?")
        assert "error" not in answer["info"]
        assert [part["text"] for part in answer["parts"] if part["type"] == "text"][-1] == "Yes."
        counted = (await client.session(session["id"]))["tokens"]
        assert (counted["input"], counted["output"]) == (12, 5)
        answer = await client.prompt(session["id"], "And now?")
        assert "no answer, in two tries" in answer["info"]["error"]["data"]["message"]
        assert len(model.requests) == 4

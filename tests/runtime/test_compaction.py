"""The window fills up: compaction and what the session goes on with, in whole turns."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from bench.client import Client
from tests.loopback.anthropic import AnthropicServer
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Body, HttpError, TokenUsage, ToolUse, Turn, Wait
from tests.loopback.server import LoopbackServer
from tests.runtime.test_crashes import crash
from tests.server import Server, model_config, parts_of, running, serving, until

SUMMARY = "GOAL: greet. FILES: hello.py. NEXT: say bye."
FULL = TokenUsage(input=195_000)
READ = ToolUse("read", {"filePath": "hello.py"})
BOTH = pytest.mark.parametrize(
    ("server_class", "npm"),
    [(OpenAIServer, "@ai-sdk/openai-compatible"), (AnthropicServer, "@ai-sdk/anthropic")],
)
OVERFLOWS = [
    HttpError(
        400,
        body='{"error": {"message": "This model\'s maximum context length is 128000 tokens. However, your '
        'messages resulted in 140000 tokens.", "type": "invalid_request_error", '
        '"code": "context_length_exceeded"}}',
    ),
    HttpError(400, "prompt is too long: 213462 tokens > 200000 maximum", "invalid_request_error"),
    HttpError(413, "Request exceeds the maximum size", "request_too_large"),
    HttpError(500, "the request exceeds the available context size, try increasing it"),
    HttpError(400, "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000"),
]


def is_compaction(body: Body) -> bool:
    return "<conversation>" in str(body["messages"])


def said(body: Body) -> str:
    return str(body["messages"])


def infos(history: list[dict[str, Any]], **wanted: Any) -> list[dict[str, Any]]:
    found = [entry["info"] for entry in history]
    return [info for info in found if wanted.items() <= info.items()]


async def summarize(client: Client, session_id: str, **more: Any) -> Any:
    model = {"providerID": "fake", "modelID": "fake"}
    return await client.post(f"/session/{session_id}/summarize", {**model, **more})


@BOTH
async def test_a_full_window_is_compacted_and_the_work_goes_on(
    home: Path, project: Path, server_class: type[LoopbackServer], npm: str
) -> None:
    script = [
        Turn(text="I look.", tools=[READ], usage=FULL),
        Turn(text=SUMMARY),
        Turn(text="All done."),
    ]
    async with (
        server_class(script) as model,
        running(Server(home, project, model_config(model.base_url, npm))) as client,
        client.events() as events,
    ):
        session = await client.create_session("named")
        answer = await client.prompt(session["id"], "Greet somebody.", system="Be brief.")
        assert [part["text"] for part in answer["parts"] if part["type"] == "text"] == ["All done."]
        await until(events, "session.compacted", sessionID=session["id"])
        _, asked, last = model.requests
        assert is_compaction(asked.body)
        assert not asked.body.get("tools")
        assert "def hello" in said(asked.body)
        assert SUMMARY in said(last.body)
        assert "def hello" not in said(last.body)
        assert "Be brief." in str(last.body), "what the request asked for is still asked for"
        history = await client.messages(session["id"])
        (summary,) = infos(history, summary=True)
        assert (summary["mode"], summary["agent"]) == ("compaction", "compaction")
        (marker,) = parts_of(history, "compaction")
        assert marker["auto"] is True
        assert marker["messageID"] == summary["parentID"]
        assert marker["metadata"]["before"] == 195_005
        assert 0 < marker["metadata"]["after"] < 20_000
        assert parts_of(history, "tool")[0]["state"]["output"], "what was compacted stays readable"
        assert [info for info in infos(history) if "error" in info] == []


@BOTH
async def test_in_the_middle_of_a_turn_the_prompt_the_last_steps_and_what_is_known_stay(
    home: Path, project: Path, server_class: type[LoopbackServer], npm: str
) -> None:
    for number in range(4):
        (project / f"{number}.txt").write_text(f"content {number}\n")
    todo = {"content": "Say bye", "status": "in_progress", "priority": "high"}
    reads = [Turn(tools=[ToolUse("read", {"filePath": f"{number}.txt"})]) for number in range(4)]
    script = [
        Turn(tools=[ToolUse("todowrite", {"todos": [todo]})]),
        Turn(tools=[ToolUse("write", {"filePath": "made.txt", "content": "made"})]),
        *reads[:3],
        Turn(tools=[ToolUse("read", {"filePath": "3.txt"})], usage=FULL),
        Turn(text=SUMMARY),
        Turn(tools=[READ]),
        Turn(tools=[READ], usage=FULL),
        Turn(text="SUMMARY TWO"),
        Turn(text="Done."),
    ]
    async with (
        server_class(script) as model,
        running(Server(home, project, model_config(model.base_url, npm))) as client,
    ):
        session = await client.create_session("named")
        await client.prompt(session["id"], "Greet everybody, word by word.")
        asked, after = model.requests[6].body, model.requests[7].body
        assert is_compaction(asked)
        assert "content 1" in said(asked)
        assert "content 2" not in said(asked), "what is kept is not summed up"
        words = said(after)
        order = [SUMMARY, "[in progress] Say bye", "made.txt (created)", "Greet everybody, word by word."]
        order += ["content 2", "content 3", "was summed up to make room"]
        assert [words.index(each) for each in order] == sorted(words.index(each) for each in order)
        assert "content 1" not in words
        again = said(model.requests[10].body)
        assert "SUMMARY TWO" in again
        assert again.count("Greet everybody, word by word.") == 1
        assert SUMMARY not in again


@pytest.mark.parametrize("refusal", OVERFLOWS, ids=["openai", "anthropic", "413", "llama.cpp", "max_tokens"])
async def test_a_request_that_the_provider_finds_too_long_is_sent_again_compacted(
    home: Path, project: Path, refusal: HttpError
) -> None:
    script = [Turn(text="Hello."), Turn(fault=refusal), Turn(text=SUMMARY), Turn(text="Bye.")]
    async with serving(home, project, script) as (client, model):
        session = await client.create_session("named")
        await client.prompt(session["id"], "Greet.")
        answer = await client.prompt(session["id"], "Say good-bye, exactly so.")
        assert parts_of([answer], "text")[0]["text"] == "Bye."
        _, refused, asked, last = model.requests
        assert is_compaction(asked.body)
        assert "Say good-bye, exactly so." not in said(asked.body)
        assert "Say good-bye, exactly so." in said(last.body), "what was not answered yet stays as it is"
        assert said(refused.body) != said(last.body)
        history = await client.messages(session["id"])
        assert parts_of(history, "compaction")[0]["overflow"] is True
        assert [info for info in infos(history) if "error" in info] == []
        assert (await client.status()).get(session["id"]) is None


async def test_a_compaction_on_request_begins_a_new_epoch(home: Path, project: Path) -> None:
    (project / "AGENTS.md").write_text("Indent with tabs.")
    script = [Turn(text="One."), Turn(text="Two."), Turn(text=SUMMARY), Turn(text="Four.")]
    async with serving(home, project, script, compaction={"tail_turns": 0}) as (client, model):
        session = await client.create_session("named")
        await client.prompt(session["id"], "First.")
        (project / "AGENTS.md").write_text("Indent with spaces.")
        await client.prompt(session["id"], "Second.")
        assert "tabs" in str(model.requests[1].body["messages"][0])
        assert await summarize(client, session["id"]) is True
        await client.prompt(session["id"], "Third.")
        system, *conversation = model.requests[3].body["messages"]
        assert "Indent with spaces." in str(system)
        assert "tabs" not in str(system)
        assert "Indent with" not in str(conversation), "the update has left the history"
        roles = [message["role"] for message in conversation]
        assert roles == ["user", "assistant", "user"]
        assert SUMMARY in str(conversation[1])
        assert "Third." in str(conversation[2])


async def test_recent_turns_stay_and_a_summary_is_carried_over(home: Path, project: Path) -> None:
    script = [
        Turn(text="Answer one."),
        Turn(text="Answer two."),
        Turn(text="Answer three."),
        Turn(text="SUMMARY ONE"),
        Turn(text="Answer four."),
        Turn(text="SUMMARY TWO"),
        Turn(text="Answer five."),
    ]
    async with serving(home, project, script, compaction={"tail_turns": 1}) as (client, model):
        session = await client.create_session("named")
        for text in ("Prompt one.", "Prompt two.", "Prompt three."):
            await client.prompt(session["id"], text)
        await summarize(client, session["id"])
        await client.prompt(session["id"], "Prompt four.")
        first = said(model.requests[4].body)
        assert "Answer two." not in first
        assert first.index("SUMMARY ONE") < first.index("Prompt three.") < first.index("Prompt four.")
        await summarize(client, session["id"])
        record = said(model.requests[5].body)
        assert "SUMMARY ONE" in record
        assert "Answer three." in record
        assert "Answer two." not in record
        await client.prompt(session["id"], "Prompt five.")
        last = said(model.requests[6].body)
        assert "SUMMARY ONE" not in last
        assert last.index("SUMMARY TWO") < last.index("Prompt four.") < last.index("Prompt five.")
        assert "Answer three." not in last


async def test_a_compaction_that_overflows_is_given_less_and_then_says_so(home: Path, project: Path) -> None:
    refused = Turn(fault=OVERFLOWS[0])
    long = "word " * 40_000
    script = [Turn(text="Long ago."), *[refused] * 3, Turn(text=SUMMARY), *[refused] * 4, Turn(text="Still.")]
    async with serving(home, project, script) as (client, model):
        session = await client.create_session("named")
        await client.prompt(session["id"], long)
        assert await summarize(client, session["id"]) is True
        sizes = [len(said(request.body)) for request in model.requests[1:5]]
        assert sizes == sorted(sizes, reverse=True)
        assert sizes[3] < sizes[0] / 6
        assert await summarize(client, session["id"]) is False
        error = infos(await client.messages(session["id"]), summary=True)[-1]["error"]
        assert error["name"] == "ContextOverflowError"
        assert "200,000" in error["data"]["message"]
        await client.prompt(session["id"], "Are you there?")
        assert SUMMARY in said(model.requests[-1].body), "the state before is in force"


async def test_without_auto_the_error_names_the_command(home: Path, project: Path) -> None:
    script = [Turn(text="Hi.", usage=FULL), Turn(fault=OVERFLOWS[1])]
    async with serving(home, project, script, compaction={"auto": False}) as (client, model):
        session = await client.create_session("named")
        await client.prompt(session["id"], "Greet.")
        answer = await client.prompt(session["id"], "Again.")
        assert answer["info"]["error"]["name"] == "ContextOverflowError"
        assert "/compact" in answer["info"]["error"]["data"]["message"]
        assert len(model.requests) == 2


async def test_a_session_without_answers_has_nothing_to_compact(home: Path, project: Path) -> None:
    async with serving(home, project, []) as (client, model):
        session = await client.create_session("named")
        with pytest.raises(httpx.HTTPStatusError) as refused:
            await summarize(client, session["id"])
        assert refused.value.response.status_code == 400
        assert "nothing to compact" in refused.value.response.json()["data"]["message"]
        assert model.requests == []


def script_that_waits(waits: Callable[[], bool]) -> Callable[[Body], Turn]:
    def answer(body: Body) -> Turn:
        if not is_compaction(body):
            return Turn(text="Answer.")
        return Turn(text=["half a summary", Wait("never")]) if waits() else Turn(text=SUMMARY)

    return answer


async def test_a_stop_during_a_compaction_leaves_what_was(home: Path, project: Path) -> None:
    async with serving(home, project, script_that_waits(lambda: True)) as (client, model):
        session = await client.create_session("named")
        await client.prompt(session["id"], "First.")
        async with client.events() as events:
            asking = asyncio.create_task(summarize(client, session["id"]))
            await until(events, "message.part.delta", delta="half a summary")
            await client.abort(session["id"])
            assert await asking is False
        await client.prompt(session["id"], "Second.")
        conversation = said(model.requests[-1].body)
        assert "half a summary" not in conversation
        assert conversation.index("First.") < conversation.index("Answer.") < conversation.index("Second.")


async def test_killed_during_a_compaction(home: Path, project: Path) -> None:
    waits = [True]
    async with OpenAIServer(script_that_waits(lambda: waits.pop() if waits else False)) as model:
        server = Server(home, project, model_config(model.base_url, compaction={"tail_turns": 0}))
        await asyncio.to_thread(server.start)
        async with server.client() as client, client.events() as events:
            session = await client.create_session("named")
            await client.prompt(session["id"], "First.")
            asking = asyncio.create_task(summarize(client, session["id"]))
            await until(events, "message.part.delta", delta="half a summary")
            server.kill()
            with pytest.raises(httpx.HTTPError):
                await asking
        async with running(server) as client:
            await client.prompt(session["id"], "Second.")
            conversation = said(model.requests[-1].body)
            assert "half a summary" not in conversation
            assert conversation.index("First.") < conversation.index("Second.")
            (cut,) = infos(await client.messages(session["id"]), summary=True)
            assert cut["error"]["name"] == "MessageAbortedError"
            assert await summarize(client, session["id"]) is True
            await client.prompt(session["id"], "Third.")
            assert SUMMARY in said(model.requests[-1].body)
            assert "First." not in said(model.requests[-1].body)


@pytest.mark.parametrize("point", ["compaction promoted", "compacted"])
async def test_a_crash_beside_a_compaction_loses_nothing(home: Path, project: Path, point: str) -> None:
    """A compaction that was asked for is done after the restart, and what was to go on goes on."""
    asked = 0

    def script(body: Body) -> Turn:
        nonlocal asked
        asked += is_compaction(body)
        if is_compaction(body):
            return Turn(text=SUMMARY)
        return Turn(text="Done.") if SUMMARY in said(body) else Turn(tools=[READ], usage=FULL)

    async with OpenAIServer(script) as model:
        server = Server(home, project, model_config(model.base_url))
        session_id = await crash(server, point)
        async with running(server) as client, client.events() as events:
            history = await client.messages(session_id)
            while "Done." not in [part["text"] for part in parts_of(history, "text")]:
                await until(events, "session.idle")
                history = await client.messages(session_id)
            assert asked == 1
            assert len(infos(history, summary=True)) == 1
            assert parts_of(history, "tool")[0]["state"]["status"] == "completed"


@pytest.mark.parametrize("auto", [False, True])
async def test_the_model_of_a_compaction_is_not_the_sessions_choice(
    home: Path, project: Path, auto: bool
) -> None:
    def script(body: Body) -> Turn:
        return Turn(text=SUMMARY if is_compaction(body) else "Answer.")

    async with OpenAIServer(script) as model:
        config = model_config(model.base_url)
        models = config["provider"]["fake"]["models"]
        models["other"] = models["fake"]
        async with running(Server(home, project, config)) as client:
            session = await client.create_session("named")
            await client.prompt(session["id"], "First.")
            assert await summarize(client, session["id"], modelID="other", auto=auto) is True
            assert (await client.session(session["id"]))["model"]["id"] == "fake"
            await client.prompt(session["id"], "Second.")
            asked = [request.body["model"] for request in model.requests]
            assert asked == ["fake", "other", *(["other"] if auto else []), "fake"]

"""A turn whose model fails goes on with another one, says so, and the next begins with the first again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.loopback.openai import OpenAIServer
from tests.loopback.script import HttpError, ToolUse, Turn
from tests.server import Server, model_config, parts_of, running, until

SPENT = HttpError(402, "Your credit is spent")


def two(first: OpenAIServer, second: OpenAIServer, **more: Any) -> dict[str, Any]:
    config = model_config(first.base_url, **more)
    other = model_config(second.base_url)["provider"]["fake"]
    other["models"] = {"other": {**other["models"]["fake"], "name": "Other"}}
    config["provider"]["second"] = other
    return config


async def test_another_model_answers_for_one_turn(home: Path, project: Path) -> None:
    calls = [ToolUse("read", {"filePath": "hello.py"}, "call_a")]
    async with (
        OpenAIServer([Turn(fault=SPENT), Turn(text="Back again.")]) as first,
        OpenAIServer([Turn(tools=calls), Turn(text="Seen.")]) as second,
        running(Server(home, project, two(first, second, fallback=["no/such", "second/other"]))) as client,
        client.events() as events,
    ):
        session = await client.create_session("named")
        await client.prompt_async(session["id"], "Look.")
        await until(events, "session.idle")
        history = await client.messages(session["id"])
        answers = [row["info"] for row in history if row["info"]["role"] == "assistant"]
        assert {(one["providerID"], one["modelID"]) for one in answers} == {("second", "other")}
        assert not any("error" in one for one in answers)
        (told,) = parts_of(history, "retry")
        words = told["error"]["data"]["message"]
        assert words == "Fake failed (Your credit is spent). Other goes on with this turn."
        assert [part["text"] for part in parts_of(history[1:], "text")] == ["Seen."]

        await client.prompt_async(session["id"], "And now?")
        await until(events, "session.idle")
        assert (await client.messages(session["id"]))[-1]["info"]["providerID"] == "fake"


async def test_an_agents_own_list_takes_its_place(home: Path, project: Path) -> None:
    async with (
        OpenAIServer([Turn(fault=SPENT)]) as first,
        OpenAIServer([]) as second,
        running(
            Server(
                home,
                project,
                two(first, second, fallback=["second/other"], agent={"build": {"fallback": []}}),
            )
        ) as client,
        client.events() as events,
    ):
        session = await client.create_session("named")
        await client.prompt_async(session["id"], "Look.")
        await until(events, "session.idle")
        answer = (await client.messages(session["id"]))[-1]["info"]
        assert answer["error"]["data"]["message"] == "Your credit is spent"
        assert not second.requests


async def test_a_request_that_is_wrong_is_nobody_elses(home: Path, project: Path) -> None:
    async with (
        OpenAIServer([Turn(fault=HttpError(400, "max_tokens is too large"))]) as first,
        OpenAIServer([]) as second,
        running(Server(home, project, two(first, second, fallback=["second/other"]))) as client,
        client.events() as events,
    ):
        session = await client.create_session("named")
        await client.prompt_async(session["id"], "Look.")
        await until(events, "session.idle")
        assert "too large" in (await client.messages(session["id"]))[-1]["info"]["error"]["data"]["message"]
        assert not second.requests

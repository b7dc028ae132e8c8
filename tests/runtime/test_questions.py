"""The question tool: asked, answered once, dismissed as a whole, gone with its turn."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from bench.client import Client
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn
from tests.server import Server, model_config, parts_of, running, serving, until

COLOUR = {
    "question": "Which colour?",
    "header": "Colour",
    "options": [{"label": "Red", "description": "Loud"}, {"label": "Blue", "description": ""}],
}
PARTS = {**COLOUR, "question": "Which parts?", "header": "Parts", "multiple": True, "custom": False}


def asking(*questions: dict[str, Any]) -> Turn:
    return Turn(tools=[ToolUse("question", {"questions": list(questions)})])


async def refused(client: Client, path: str, body: dict[str, Any] | None = None) -> httpx.Response:
    with pytest.raises(httpx.HTTPStatusError) as error:
        await client.post(path, body)
    return error.value.response


async def test_asked_and_answered_in_opencodes_shapes(home: Path, project: Path) -> None:
    async with (
        serving(home, project, [asking(COLOUR, PARTS), Turn(text="Blue it is.")]) as (client, model),
        client.events() as events,
    ):
        session = await client.create_session()
        await client.prompt_async(session["id"], "Paint it.")
        asked = (await until(events, "question.asked")).properties
        part = parts_of(await client.messages(session["id"]), "tool")[0]
        assert part["state"]["status"] == "running"
        assert await client.get("/question") == [dict(asked)]
        assert asked["tool"] == {"messageID": part["messageID"], "callID": part["callID"]}
        assert [question["header"] for question in asked["questions"]] == ["Colour", "Parts"]
        assert asked["questions"][0]["options"][0] == {"label": "Red", "description": "Loud"}
        path = f"/question/{asked['id']}/reply"
        assert await client.post(path, {"answers": [["a dark blue"], ["Red", "Blue"]]}) is True
        replied = (await until(events, "question.replied")).properties
        assert replied["answers"] == [["a dark blue"], ["Red", "Blue"]]
        assert replied["requestID"] == asked["id"]
        await until(events, "session.idle")
        part = parts_of(await client.messages(session["id"]), "tool")[0]
        assert part["state"]["metadata"]["answers"] == replied["answers"]
        for text in ("Which colour?", "- a dark blue", "Which parts?", "- Red\n- Blue"):
            assert text in part["state"]["output"]
        assert "- a dark blue" in str(model.requests[-1].body["messages"])
        second = await refused(client, path, {"answers": [["Red"], []]})
        assert second.status_code == 404
        assert second.json()["_tag"] == "QuestionNotFoundError"
        assert "waits" in second.json()["message"]


async def test_wrong_answers_are_refused_and_the_question_stays(home: Path, project: Path) -> None:
    async with (
        serving(home, project, [asking(COLOUR, PARTS), Turn(text="Thanks.")]) as (client, _),
        client.events() as events,
    ):
        session = await client.create_session()
        await client.prompt_async(session["id"], "Ask.")
        request_id = (await until(events, "question.asked")).properties["id"]
        path = f"/question/{request_id}/reply"
        for answers, said in (
            ([["Red", "Blue"], []], "one answer"),
            ([["Red"], ["Green"]], "'Green'"),
            ([["Red"], [], []], "3 answers"),
            ([["x" * 10_001]], "10,000"),
        ):
            answer = await refused(client, path, {"answers": answers})
            assert answer.status_code == 400
            assert said in answer.json()["message"]
        assert (await refused(client, path, {"answers": "Red"})).status_code == 400
        assert len(await client.get("/question")) == 1
        await client.post(path, {"answers": [["Red"]]})
        await until(events, "session.idle")
        output = parts_of(await client.messages(session["id"]), "tool")[0]["state"]["output"]
        assert output.endswith("Which parts?\n- (no answer)")


async def test_dismissed_as_a_whole_the_turn_ends(home: Path, project: Path) -> None:
    async with (
        serving(home, project, [asking(COLOUR, PARTS), Turn(text="Go on?")]) as (client, model),
        client.events() as events,
    ):
        session = await client.create_session()
        await client.prompt_async(session["id"], "Ask.")
        request_id = (await until(events, "question.asked")).properties["id"]
        assert await client.post(f"/question/{request_id}/reject") is True
        assert (await until(events, "question.rejected")).properties["requestID"] == request_id
        await until(events, "session.idle")
        asked = len(model.requests)
        await client.prompt(session["id"], "Take red.")
        assert len(model.requests) == asked + 1, "the dismissal must not be followed by a step of its own"
        assert "dismissed the question" in str(model.requests[-1].body["messages"])


async def test_a_stopped_turn_takes_its_question_along(home: Path, project: Path) -> None:
    async with serving(home, project, [asking(COLOUR)]) as (client, _), client.events() as events:
        session = await client.create_session()
        await client.prompt_async(session["id"], "Ask.")
        request_id = (await until(events, "question.asked")).properties["id"]
        await client.abort(session["id"])
        await until(events, "question.rejected", requestID=request_id)
        await until(events, "session.idle")
        assert await client.get("/question") == []
        answer = await refused(client, f"/question/{request_id}/reply", {"answers": [["Red"]]})
        assert answer.status_code == 404


async def test_killed_while_a_question_waits(home: Path, project: Path) -> None:
    async with OpenAIServer([asking(COLOUR), Turn(text="I know.")]) as model:
        server = Server(home, project, model_config(model.base_url))
        await asyncio.to_thread(server.start)
        async with server.client() as client, client.events() as events:
            session = await client.create_session()
            await client.prompt_async(session["id"], "Ask.")
            await until(events, "question.asked")
        server.kill()
        async with running(server) as client:
            await client.prompt(session["id"], "Go on.")
            assert await client.get("/question") == []
            (part,) = parts_of(await client.messages(session["id"]), "tool")
            assert part["state"]["status"] == "error"
            assert part["state"]["metadata"]["interrupted"] is True
            assert "server ended" in str(model.requests[-1].body["messages"])


async def test_two_questions_of_one_step_are_answered_apart(home: Path, project: Path) -> None:
    calls = [ToolUse("question", {"questions": [question]}) for question in (COLOUR, PARTS)]
    async with (
        serving(home, project, [Turn(tools=calls), Turn(text="Both.")]) as (client, _),
        client.events() as events,
    ):
        session = await client.create_session()
        await client.prompt_async(session["id"], "Ask.")
        first = (await until(events, "question.asked")).properties
        second = (await until(events, "question.asked")).properties
        for asked in (second, first):
            await client.post(f"/question/{asked['id']}/reply", {"answers": [["Red"]]})
        await until(events, "session.idle")
        parts = parts_of(await client.messages(session["id"]), "tool")
        assert [part["state"]["status"] for part in parts] == ["completed", "completed"]


@pytest.mark.parametrize(
    ("questions", "said"),
    [
        ([], "questions"),
        ([COLOUR] * 11, "at most 10"),
        ([{**COLOUR, "options": []}], "options"),
        ([{**COLOUR, "header": "x" * 31}], "at most 30 characters"),
        ([{**COLOUR, "question": " "}], "blank"),
        ([{**COLOUR, "options": [{"label": "a"}, {"label": "a"}]}], "different"),
    ],
)
async def test_what_cannot_be_asked_is_explained(
    home: Path, project: Path, questions: list[dict[str, Any]], said: str
) -> None:
    async with serving(home, project, [asking(*questions), Turn(text="I see.")]) as (client, _):
        session = await client.create_session()
        await client.prompt(session["id"], "Ask.")
        (part,) = parts_of(await client.messages(session["id"]), "tool")
        assert part["state"]["status"] == "error"
        assert said in part["state"]["error"]


async def test_an_agent_whose_rules_deny_questions_is_told(home: Path, project: Path) -> None:
    script = [asking(COLOUR), Turn(text="I see.")]
    denied = {"*": "allow", "question": "deny"}
    async with serving(home, project, script, permission=denied) as (client, model):
        session = await client.create_session()
        await client.prompt(session["id"], "Ask.")
        (part,) = parts_of(await client.messages(session["id"]), "tool")
        assert "question is denied" in part["state"]["error"]
        offered = [tool["function"]["name"] for tool in model.requests[0].body["tools"]]
        assert "question" not in offered

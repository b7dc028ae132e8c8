"""A conversation over `/api/session` alone: prompts, what comes of them, and the events that tell it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from tests.loopback.script import HttpError, ToolUse, Turn, Wait
from tests.protocol.served import Served
from tests.protocol.v2 import Talk, kinds, until

pytestmark = pytest.mark.asyncio(loop_scope="session")

READ = ToolUse("read", {"filePath": "hello.py"})
TURN = (Turn(text="Let me look.", tools=[READ]), Turn(reasoning="Hm.", text="It says hello."))
TOLD = [
    "prompt.admitted",
    "prompted",
    "step.started",
    "text.started",
    "text.ended",
    "tool.input.started",
    "tool.input.ended",
    "tool.called",
    "tool.success",
    "step.ended",
    "step.started",
    "reasoning.started",
    "reasoning.ended",
    "text.started",
    "text.ended",
    "step.ended",
]


async def test_a_turn_with_a_call(served: Served) -> None:
    talk = await Talk.begin(served)
    served.plays(*TURN)
    admitted = await talk.says("What is in hello.py?")
    user, first, last = await talk.messages()
    assert (user["type"], user["id"], user["text"]) == ("user", admitted["id"], "What is in hello.py?")
    text, call = first["content"]
    assert (text["text"], call["name"], call["state"]["input"]) == ("Let me look.", "read", READ.arguments)
    assert "def hello" in call["state"]["content"][0]["text"]
    assert [part["type"] for part in last["content"]] == ["reasoning", "text"]
    assert (last["finish"], last["tokens"]["input"]) == ("stop", 10)
    assert await talk.get(f"/message/{last['id']}") == last
    assert await talk.get("/context") == [user, first, last]
    session = await talk.get()
    assert session["tokens"]["input"] == 30, "two steps and the title"
    assert session["title"] != "New session"


async def test_events_are_the_same_live_and_again(served: Served) -> None:
    talk = await Talk.begin(served)
    served.plays(*TURN)
    async with talk.events() as live:
        await talk.says("What is in hello.py?")
        told = await until(live, "session.next.step.ended", finish="stop")
    assert kinds(told) == TOLD
    assert all(one["durable"]["seq"] < two["durable"]["seq"] for one, two in pairwise(told))
    assert await talk.history() == told
    async with talk.events(after=told[4]["durable"]["seq"]) as later:
        assert await until(later, "session.next.step.ended", finish="stop") == told[5:]
    paged: list[Any] = []
    while True:
        after = paged[-1]["durable"]["seq"] if paged else 0
        page = await served.get(f"/api/session/{talk.id}/history", limit=3, after=after)
        paged += page["data"]
        if not page["hasMore"]:
            break
    assert paged == told


async def test_the_same_prompt_again(served: Served) -> None:
    talk, other = await Talk.begin(served), await Talk.begin(served)
    id = f"msg_{talk.id[-8:]}"
    body = {
        "id": id,
        "prompt": {
            "text": "See @a.txt",
            "files": [
                {
                    "uri": "data:text/plain,what%20it%20says",
                    "name": "a.txt",
                    "description": "A note.",
                    "source": {"start": 4, "end": 10, "text": "@a.txt"},
                }
            ],
            "agents": [{"name": "general"}],
        },
        "resume": False,
    }
    first = await talk.post("/prompt", body, status=200)
    assert first["data"]["prompt"]["files"][0]["mime"] == "text/plain"
    assert "promotedSeq" not in first["data"]
    assert await talk.post("/prompt", body, status=200) == first
    changed = body | {"prompt": {"text": "See"}}
    await talk.post("/prompt", changed, status=409)
    await other.post("/prompt", body, status=409)
    await talk.post("/prompt", {"prompt": {"text": " "}}, status=400)
    await talk.says("Go on.", delivery="queue")
    again = (await talk.post("/prompt", body, status=200))["data"]
    assert again["promotedSeq"] > again["admittedSeq"] == first["data"]["admittedSeq"]
    await talk.post("/prompt", changed, status=409)
    assert (await talk.get(f"/message/{id}"))["files"] == first["data"]["prompt"]["files"]
    assert "prompted" in kinds(await talk.history(after=first["data"]["admittedSeq"]))


async def test_what_is_not_to_resume_waits(served: Served) -> None:
    """It runs with what wakes the session next."""
    talk = await Talk.begin(served)
    held = await talk.prompt("First.", resume=False)
    await talk.wait()
    assert await talk.messages() == []
    served.plays(Turn(text="Both."))
    await talk.says("Second.")
    shown = await talk.messages()
    assert [message.get("text", "") for message in shown] == ["First.", "Second.", ""]
    assert shown[0]["id"] == held["id"]


async def test_steer_and_queue(served: Served) -> None:
    """What steers joins the turn at its next step, what is queued comes after it; both keep their ids."""
    talk = await Talk.begin(served)
    looks = Turn(text=["Looking", Wait("steered")], tools=[READ])
    served.plays(looks, Turn(text="As you say."), Turn(text="And now the next."))
    async with talk.events() as live:
        await talk.prompt("Look around.")
        await until(live, "session.next.text.started")
        queued = await talk.prompt("Then this.", delivery="queue")
        steered = await talk.prompt("But first that.", delivery="steer")
        await served.opens("steered")
        told = await until(live, "session.next.prompted", messageID=queued["id"])
    prompted = [event["data"] for event in told if event["type"] == "session.next.prompted"]
    assert [(data["messageID"], data["delivery"]) for data in prompted] == [
        (steered["id"], "steer"),
        (queued["id"], "queue"),
    ]
    await talk.wait()
    texts = [message.get("text") or message["content"][0]["text"] for message in await talk.messages()]
    assert texts == [
        "Look around.",
        "Looking",
        "But first that.",
        "As you say.",
        "Then this.",
        "And now the next.",
    ]
    assert (await talk.get(f"/message/{queued['id']}"))["text"] == "Then this."
    staged = await talk.post("/revert/stage", {"messageID": queued["id"]}, status=200)
    assert staged["data"]["messageID"] == (await talk.get())["revert"]["messageID"] == queued["id"]
    assert (await talk.history())[-1]["data"]["revert"]["messageID"] == queued["id"]


async def test_interrupt(served: Served) -> None:
    talk = await Talk.begin(served)
    served.plays(Turn(text=["It begins", Wait("never opened")]))
    async with talk.events() as live:
        await talk.prompt("Go.")
        await until(live, "session.next.text.started")
        assert (await served.get("/api/session/active"))["data"][talk.id] == {"type": "running"}
        await talk.post("/interrupt")
        failed = (await until(live, "session.next.step.failed"))[-1]
    await talk.wait()
    assert talk.id not in (await served.get("/api/session/active"))["data"]
    answer = (await talk.messages())[-1]
    assert answer["error"] == failed["data"]["error"] == {"type": "unknown", "message": "Stopped."}
    assert answer["content"][0]["text"] == "It begins"
    await talk.post("/interrupt")


async def test_a_retry_and_an_error(served: Served) -> None:
    talk = await Talk.begin(served)
    served.plays(Turn(fault=HttpError(429, headers={"retry-after-ms": "1"})), Turn(fault=HttpError(400)))
    await talk.says("Go.")
    told = await talk.history()
    assert kinds(told) == ["prompt.admitted", "prompted", "step.started", "retried", "step.failed"]
    assert told[3]["data"]["attempt"] == 1
    assert (await talk.messages())[-1]["error"] == told[4]["data"]["error"]


async def test_compact(served: Served) -> None:
    talk = await Talk.begin(served)
    await talk.post("/compact", status=400)
    for number in range(4):
        served.plays(Turn(text=f"Answer {number}."))
        await talk.says(f"Question {number}.")
    served.plays(Turn(text="They counted to three."))
    async with talk.events(after=(await talk.history())[-1]["durable"]["seq"]) as live:
        await talk.post("/compact")
        told = await until(live, "session.next.compaction.ended")
    assert kinds(told) == ["compaction.started", "compaction.ended"]
    await talk.wait()
    shown = await talk.messages()
    compaction = shown[-1]
    assert (compaction["type"], compaction["reason"]) == ("compaction", "manual")
    assert compaction["summary"] == told[-1]["data"]["text"] == "They counted to three."
    assert compaction["id"] == told[-1]["data"]["messageID"]
    served.plays(Turn(text="Four."))
    await talk.says("And now?")
    context = await talk.get("/context")
    kept = [message.get("text") or message["content"][0]["text"] for message in context[1:]]
    assert context[0] == compaction
    assert kept == ["Question 2.", "Answer 2.", "Question 3.", "Answer 3.", "And now?", "Four."]


async def test_another_agent_and_model(served: Served) -> None:
    """The choice counts for the next turn and has its place among the messages."""
    model = {"id": "fake", "providerID": "fake"}
    talk = await Talk.begin(served, agent="build", model=model)
    assert (await talk.get())["model"] == model
    await talk.post("/agent", {"agent": "plan"})
    await talk.post("/agent", {"agent": "plan"})
    await talk.post("/model", {"model": model | {"variant": "high"}})
    served.plays(Turn(text="I plan."))
    await talk.says("Go.")
    shown = await talk.messages()
    expected = ["agent-switched", "model-switched", "user", "system", "assistant"]
    assert [message["type"] for message in shown] == expected, "of plan mode it is told in its place"
    assert (shown[0]["agent"], shown[1]["model"]["variant"], shown[4]["agent"]) == ("plan", "high", "plan")
    told = (await talk.history())[:2]
    assert kinds(told) == ["agent.switched", "model.switched"]
    assert [event["data"]["messageID"] for event in told] == [message["id"] for message in shown[:2]]


async def test_a_command_of_the_user(served: Served) -> None:
    talk = await Talk.begin(served)
    await served.post(f"/session/{talk.id}/shell", {"agent": "build", "command": "echo said"})
    (shell,) = await talk.messages()
    assert (shell["type"], shell["command"]) == ("shell", "echo said")
    assert "said" in shell["output"]
    told = await talk.history()
    assert kinds(told) == ["shell.started", "shell.ended"]
    assert told[0]["data"]["messageID"] == shell["id"]

"""`/api/event`: everything, in the frames of the second protocol."""

from __future__ import annotations

import pytest

from tests.loopback.script import ToolUse, Turn
from tests.protocol.served import Served
from tests.protocol.v2 import Talk, events, kinds, until

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_everything_of_a_turn(served: Served) -> None:
    """What the first protocol tells and the second's own, each as the document has it."""
    async with events(served, "/api/event", "V2Event") as stream:
        talk = await Talk.begin(served, agent="build")
        read = ToolUse("read", {"filePath": "hello.py"})
        served.plays(Turn(reasoning=["Th", "ink"], text=["Hel", "lo."], tools=[read]), Turn(text="Done."))
        await talk.prompt("Go.")
        told = await until(stream, "session.idle", sessionID=talk.id)
    told = [event for event in told if event["data"].get("sessionID") == talk.id]
    types = {event["type"] for event in told}
    assert {"session.created", "message.updated", "message.part.delta", "session.status"} <= types
    assert all(event["location"]["directory"] == str(served.server.project) for event in told)
    deltas = {"reasoning": "", "text": ""}
    for event in told:
        name = event["type"].removeprefix("session.next.").removesuffix(".delta")
        if event["type"].startswith("session.next.") and name in deltas:
            deltas[name] += event["data"]["delta"]
    assert deltas == {"reasoning": "Think", "text": "Hello.Done."}
    durable = [event for event in told if "durable" in event]
    logged = await talk.history()
    assert [{key: event[key] for key in event if key != "location"} for event in durable] == logged
    assert kinds(durable)[:2] == ["prompt.admitted", "prompted"]


async def test_a_compaction_is_streamed(served: Served) -> None:
    talk = await Talk.begin(served)
    for _ in range(3):
        served.plays(Turn(text="An answer."))
        await talk.says("A question.")
    served.plays(Turn(text=["All ", "in all."]))
    async with events(served, "/api/event", "V2Event") as stream:
        await talk.post("/compact")
        told = await until(stream, "session.next.compaction.ended", sessionID=talk.id)
    deltas = [event["data"] for event in told if event["type"] == "session.next.compaction.delta"]
    assert "".join(data["text"] for data in deltas) == "All in all."
    assert {data["messageID"] for data in deltas} == {told[-1]["data"]["messageID"]}
    assert not any(event["type"] == "session.next.text.delta" for event in told)

"""`/sync`: the history of sessions, and a session made of its history."""

from __future__ import annotations

import json

import pytest

from tests.loopback.script import ToolUse, Turn
from tests.protocol.served import Json, Served

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def of(served: Served, session: str, **known: int) -> list[Json]:
    found = await served.post("/sync/history", known)
    return [event for event in found if event["aggregate_id"] == session]


async def test_what_came_after_what_is_known(served: Served) -> None:
    session = await served.session()
    first = await of(served, session)
    assert [event["type"] for event in first] == ["session.created.1"]
    served.plays(Turn(tools=[ToolUse("read", {"filePath": "hello.py"})]), Turn(text="Read."))
    await served.client.prompt(session, "Read it.")
    whole = await of(served, session)
    assert [event["seq"] for event in whole] == sorted({event["seq"] for event in whole})
    assert await of(served, session, **{session: whole[-1]["seq"]}) == []
    later = await of(served, session, **{session: first[0]["seq"]})
    assert first[0]["seq"] < later[0]["seq"]
    assert later[-1] == whole[-1]
    entries = await served.get(f"/session/{session}/message")
    told = [event["data"].get("part") or event["data"]["info"] for event in later]
    made = {one["id"]: one for one in told if one["id"] != session}
    wanted = [one for entry in entries for one in (entry["info"], *entry["parts"])]
    assert list(made.values()) == wanted


async def test_a_session_is_made_of_its_history(served: Served) -> None:
    session = await served.session("To be copied")
    served.plays(Turn(text="Answered."))
    await served.client.prompt(session, "Ask.")
    body = {"directory": str(served.server.project)}
    events = [
        {name: event[name] for name in ("id", "seq", "type", "data")} | {"aggregateID": session}
        for event in await of(served, session)
    ]
    assert await served.post("/sync/replay", body | {"events": events}) == {"sessionID": session}
    copied = json.dumps(events).replace(session, another(session))
    for kind in ("msg_", "prt_"):
        copied = copied.replace(kind, f"{kind}0")
    other = json.loads(copied)
    made = await served.post("/sync/replay", body | {"events": other})
    before, after = [await served.get(f"/session/{id}/message") for id in (session, made["sessionID"])]
    assert [_said(entry) for entry in after] == [_said(entry) for entry in before]
    assert (await served.get(f"/session/{made['sessionID']}"))["title"] == "To be copied"
    await served.post("/sync/replay", body | {"events": other[1:2] + other[:1]}, status=400)
    await served.post("/sync/replay", body | {"events": [events[0], other[1]]}, status=400)


async def test_what_was_at_work_elsewhere_is_ended_here(served: Served) -> None:
    session = await served.session("In the middle")
    served.plays(Turn(tools=[ToolUse("read", {"filePath": "hello.py"})]), Turn(text="Read."))
    await served.client.prompt(session, "Read it.")
    events = [
        {name: event[name] for name in ("id", "seq", "type", "data")} | {"aggregateID": session}
        for event in await of(served, session)
    ]
    ends = [event["data"].get("info", {}).get("role") == "assistant" for event in events].index(True)
    del events[ends]["data"]["info"]["time"]["completed"]
    copied = json.dumps(events[: ends + 1]).replace(session, another(session))
    for kind in ("msg_", "prt_"):
        copied = copied.replace(kind, f"{kind}0")
    body = {"directory": str(served.server.project), "events": json.loads(copied)}
    made = await served.post("/sync/replay", body)
    entries = await served.get(f"/session/{made['sessionID']}/message")
    assert entries[-1]["info"]["role"] == "assistant"
    assert entries[-1]["info"]["time"]["completed"]


def another(session: str) -> str:
    """An id that differs in its last sign."""
    return session[:-1] + ("1" if session.endswith("0") else "0")


def _said(entry: Json) -> list[tuple[str, str]]:
    return [(part["type"], part.get("text", "")) for part in entry["parts"]]


async def test_there_are_no_workspaces(served: Served) -> None:
    assert await served.post("/sync/start") is True
    await served.post("/sync/steal", {"sessionID": await served.session()}, status=400)

"""Permissions and questions over `/api`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loopback.script import ToolUse, Turn
from tests.protocol.served import Served
from tests.protocol.v2 import Talk, events, until

pytestmark = pytest.mark.asyncio(loop_scope="session")

QUESTION = {
    "question": "Which colour?",
    "header": "Colour",
    "options": [{"label": "Red", "description": "Like a rose"}, {"label": "Blue", "description": "Sky"}],
    "custom": False,
}


async def test_a_permission_is_asked_and_replied(served: Served, tmp_path: Path) -> None:
    talk, other = await Talk.begin(served), await Talk.begin(served)
    made = tmp_path / "made"
    touch = ToolUse("bash", {"command": f"touch {made}", "description": "Make it"})
    served.plays(Turn(tools=[touch]), Turn(text="Made."))
    async with events(served, "/api/event", "V2Event") as stream:
        await talk.prompt("Make it.")
        told = await until(stream, "permission.v2.asked", sessionID=talk.id)
        asked = told[-1]["data"]
        assert asked in await talk.get("/permission")
        assert asked in (await served.get("/api/permission/request"))["data"]
        assert await talk.get(f"/permission/{asked['id']}") == asked
        assert (asked["action"], asked["source"]["type"]) == ("bash", "tool")
        assert await other.get("/permission") == []
        await other.post(f"/permission/{asked['id']}/reply", {"reply": "once"}, status=404)
        await served.get(f"/api/session/{other.id}/permission/{asked['id']}", status=404)
        await talk.post(f"/permission/{asked['id']}/reply", {"reply": "maybe"}, status=400)
        assert not made.exists()
        await talk.post(f"/permission/{asked['id']}/reply", {"reply": "once"})
        await until(stream, "permission.v2.replied", requestID=asked["id"], reply="once")
    await talk.wait()
    assert made.exists()
    await talk.post(f"/permission/{asked['id']}/reply", {"reply": "once"}, status=404)
    await served.get(f"/api/session/{talk.id}/permission/{asked['id']}", status=404)
    await served.get(f"/api/session/{talk.id}/permission/nonsense", status=400)


async def test_a_permission_is_asked_from_outside(served: Served) -> None:
    """The rules of the agent decide; what "always" saves counts from then on, until it is removed."""
    talk = await Talk.begin(served)
    touch = {"action": "bash", "resources": ["touch it"], "save": ["touch *"]}
    allowed = await talk.post("/permission", {"action": "bash", "resources": ["ls"]}, status=200)
    assert allowed["data"]["effect"] == "allow"
    denied = await talk.post("/permission", touch | {"agent": "nobody"}, status=200)
    assert denied["data"]["effect"] == "deny"
    id = f"per_{talk.id[-8:]}"
    asked = await talk.post("/permission", touch | {"id": id, "metadata": {"why": "test"}}, status=200)
    assert asked["data"] == {"id": id, "effect": "ask"}
    assert (await talk.get(f"/permission/{id}"))["metadata"]["why"] == "test"
    await talk.post("/permission", touch | {"id": id}, status=400)
    await talk.post(f"/permission/{id}/reply", {"reply": "always", "message": "Go on."})
    project = (await talk.get())["projectID"]
    saved = (await served.get("/api/permission/saved", projectID=project))["data"]
    (rule,) = [rule for rule in saved if rule["resource"] == "touch *"]
    assert rule in (await served.get("/api/permission/saved"))["data"]
    assert (await served.get("/api/permission/saved", projectID="none"))["data"] == []
    try:
        assert (await talk.post("/permission", touch, status=200))["data"]["effect"] == "allow"
    finally:
        await served.ask("DELETE", f"/api/permission/saved/{rule['id']}", status=204)
    await served.ask("DELETE", "/api/permission/saved/none", status=204)
    asked = await talk.post("/permission", touch, status=200)
    assert asked["data"]["effect"] == "ask"
    await talk.post(f"/permission/{asked['data']['id']}/reply", {"reply": "reject"})
    await served.post("/api/session/ses_none/permission", touch, status=404)


async def test_a_question_is_answered(served: Served) -> None:
    talk, other = await Talk.begin(served), await Talk.begin(served)
    ask = ToolUse("question", {"questions": [QUESTION]})
    served.plays(Turn(tools=[ask]), Turn(tools=[ask]), Turn(text="Red it is."))
    async with events(served, "/api/event", "V2Event") as stream:
        await talk.prompt("Paint it.")
        asked = (await until(stream, "question.v2.asked", sessionID=talk.id))[-1]["data"]
        assert await talk.get("/question") == [asked]
        assert asked in (await served.get("/api/question/request"))["data"]
        path = f"/question/{asked['id']}"
        await other.post(f"{path}/reply", {"answers": [["Red"]]}, status=404)
        await other.post(f"{path}/reject", status=404)
        wrong = await talk.post(f"{path}/reply", {"answers": [["Green"]]}, status=400)
        assert wrong["field"] == "answers"
        await talk.post(f"{path}/reply", {"answers": [["Red"]]})
        await until(stream, "question.v2.replied", requestID=asked["id"])
        await talk.post(f"{path}/reply", {"answers": [["Red"]]}, status=404)
        again = (await until(stream, "question.v2.asked", sessionID=talk.id))[-1]["data"]
        await talk.post(f"/question/{again['id']}/reject")
        await until(stream, "question.v2.rejected", requestID=again["id"])
    await talk.wait()
    await talk.post("/question/nonsense/reject", status=400)
    content = [part for said in await talk.messages() for part in said.get("content", ())]
    statuses = [part["state"]["status"] for part in content if part["type"] == "tool"]
    assert statuses == ["completed", "error"]

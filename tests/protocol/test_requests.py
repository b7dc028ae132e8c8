"""`/permission` and `/question`: what waits for a person."""

from __future__ import annotations

import asyncio

import pytest

from tests.loopback.script import ToolUse, Turn
from tests.protocol.served import Served
from tests.server import until

pytestmark = pytest.mark.asyncio(loop_scope="session")

OWN_ERROR = "a bad value is answered as OpenCode does and not as its document says"


async def test_a_permission_is_asked_for_and_given(served: Served) -> None:
    session = await served.session()
    name = f"asked-{session}.txt"
    edit = {"filePath": str(served.server.project / name), "content": "made\n"}
    for form in ("reply", "respond", "reject"):
        served.plays(Turn(tools=[ToolUse("write", edit)]))
        async with served.client.events() as events:
            await served.client.prompt_async(session, "Write it.")
            asked = await until(events, "permission.asked", sessionID=session)
            (waits,) = [item for item in await served.get("/permission") if item["sessionID"] == session]
            assert waits == {name: value for name, value in asked.properties.items() if name != "hash"}
            if form == "respond":
                path, body = f"/session/{session}/permissions/{waits['id']}", {"response": "once"}
            else:
                path = f"/permission/{waits['id']}/reply"
                body = {"reply": "reject" if form == "reject" else "once"}
            await served.post(path, dict.fromkeys(body, "maybe"), status=400, departs=OWN_ERROR)
            assert await served.post(path, body) is True
            replied = await until(events, "permission.replied", sessionID=session)
            assert replied.properties["requestID"] == waits["id"]
            await until(events, "session.idle", sessionID=session)
            again = await served.post(path, body, status=404)
            assert again["requestID"] == waits["id"]
            (served.server.project / name).unlink(missing_ok=True)


async def test_questions_are_answered_or_dismissed(served: Served) -> None:
    session = await served.session()
    question = {
        "question": "Which colour?",
        "header": "Colour",
        "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}],
    }
    for path, body in (("reply", {"answers": [["Blue"]]}), ("reject", {})):
        served.plays(Turn(tools=[ToolUse("question", {"questions": [question]})]))
        async with served.client.events() as events:
            turn = asyncio.create_task(served.client.prompt(session, "Ask."))
            asked = await until(events, "question.asked", sessionID=session)
            (waits,) = [item for item in await served.get("/question") if item["sessionID"] == session]
            assert waits == asked.properties
            address = f"/question/{waits['id']}/{path}"
            if body:
                await served.post(address, {}, status=400, departs=OWN_ERROR)
                await served.post(address, {"answers": [["Red", "Blue"]]}, status=400)
            assert await served.post(address, body) is True
            await turn
            gone = await served.post(address, body, status=404)
            assert gone["requestID"] == waits["id"]


async def test_unknown_requests(served: Served) -> None:
    session = await served.session()
    for request in ("per_none", "nope"):
        await served.post(f"/permission/{request}/reply", {"reply": "once"}, status=404)
        path = f"/session/{session}/permissions/{request}"
        await served.post(path, {"response": "once"}, status=404)
        await served.post(f"/question/{request}/reply", {"answers": []}, status=404)
        await served.post(f"/question/{request}/reject", status=404)
    nobody = await served.post("/session/ses_none/permissions/per_x", {"response": "once"}, status=404)
    assert nobody["name"] == "NotFoundError"

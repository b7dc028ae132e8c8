"""A long session over both protocols: its events are as the document declares them, and all declared come."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.loopback.script import HttpError, ToolUse, Turn
from tests.protocol.clients.test_sdk import SECONDS
from tests.protocol.conftest import repository
from tests.protocol.departures import ELSEWHERE, NEVER
from tests.protocol.served import Served
from tests.protocol.test_v2_requests import QUESTION
from tests.protocol.v2 import Talk, events, until

pytestmark = pytest.mark.asyncio(loop_scope="session")

MODEL = {"providerID": "fake", "modelID": "fake"}
PLUGIN = "async def plugin(ctx):\n    async def event(input): pass\n    return {'event': event}\n"
Json = dict[str, Any]


@pytest.mark.long
async def test_each_declared_event_is_heard(served: Served, tmp_path: Path) -> None:
    before = len(served.heard.problems)
    (folder := tmp_path / "project").mkdir()
    here = {"directory": str(repository(folder))}
    await _a_conversation(served)
    async with events(served, "/api/event", "V2Event") as stream:
        await _requests(served, stream)
        await _undone(served)
        await _terminals(served, stream)
    await _orders(served)
    await _around(served, here)
    await _ended(served, here)
    heard = (
        served.heard.types["/event"] | served.heard.types["/api/event"] | served.heard.types["/global/event"]
    )
    assert served.heard.declared() - heard - NEVER.keys() - ELSEWHERE.keys() == set()
    assert heard & NEVER.keys() == set()
    assert served.heard.problems[before:] == []


async def _a_conversation(served: Served) -> None:
    session = await served.session("")
    todo = {"content": "walk", "status": "pending", "priority": "high"}
    served.plays(
        Turn(reasoning="Let me think.", tools=[ToolUse("todowrite", {"todos": [todo]})]),
        Turn(fault=HttpError(429, headers={"retry-after-ms": "10"})),
        Turn(tools=[ToolUse("write", {"filePath": "walked.txt", "content": "on\n"}), ToolUse("read", {})]),
        Turn(tools=[ToolUse("bash", {"command": "echo one; rm walked.txt", "description": "Remove it"})]),
        Turn(text="There."),
    )
    plugins = served.server.home / ".config" / "opencode" / "plugins"
    plugins.mkdir(parents=True, exist_ok=True)
    (plugins / "walker.py").write_text(PLUGIN)
    await served.client.prompt(session, "Walk.")
    shutil.rmtree(plugins)
    aside = {"type": "text", "text": "By the way.", "synthetic": True}
    await served.post(f"/session/{session}/message", {"parts": [aside]})
    served.plays(Turn(fault=HttpError(400)))
    await served.client.prompt(session, "Fail.")
    await served.post(f"/session/{session}/shell", {"agent": "build", "command": "echo said"})
    served.plays(Turn(text="Reviewed."))
    await served.post(f"/session/{session}/command", {"command": "review", "arguments": ""})
    served.plays(Turn(text="A summary of it."))
    await served.post(f"/session/{session}/summarize", MODEL)
    entries = await served.get(f"/session/{session}/message")
    text = next(part for part in entries[-1]["parts"] if part["type"] == "text")
    await served.ask("DELETE", f"/session/{session}/message/{text['messageID']}/part/{text['id']}")
    await served.ask("DELETE", f"/session/{session}/message/{text['messageID']}")
    await served.post(f"/session/{session}/fork")
    moved = {"sessionID": session, "destination": {"directory": str(served.server.project / "src")}}
    await served.post("/experimental/control-plane/move-session", moved, status=204)
    await served.ask("DELETE", f"/session/{session}")


async def _requests(served: Served, stream: AsyncIterator[Json]) -> None:
    talk = await Talk.begin(served)
    asks = ToolUse("question", {"questions": [QUESTION]})
    write = ToolUse("write", {"filePath": "asked-walk.txt", "content": "on\n"})
    served.plays(Turn(tools=[write]), Turn(tools=[asks]), Turn(tools=[asks]))
    await talk.prompt("Ask.")
    asked = (await until(stream, "permission.asked", sessionID=talk.id))[-1]["data"]
    await served.post(f"/permission/{asked['id']}/reply", {"reply": "once"})
    asked = (await until(stream, "question.asked", sessionID=talk.id))[-1]["data"]
    await served.post(f"/question/{asked['id']}/reply", {"answers": [["Red"]]})
    asked = (await until(stream, "question.asked", sessionID=talk.id))[-1]["data"]
    await served.post(f"/question/{asked['id']}/reject")
    await talk.wait()
    (served.server.project / "asked-walk.txt").unlink()


async def _undone(served: Served) -> None:
    talk = await Talk.begin(served)
    served.plays(Turn(text="One."), Turn(text="Two."))
    first, second = await talk.says("First."), await talk.says("Second.")
    await talk.post("/revert/stage", {"messageID": first["id"]}, status=200)
    await talk.post("/revert/clear")
    await talk.post("/revert/stage", {"messageID": second["id"]}, status=200)
    await talk.post("/revert/commit")
    await talk.post("/agent", {"agent": "plan"})
    await talk.post("/model", {"model": {"id": "fake", "providerID": "fake", "variant": "high"}})
    served.plays(Turn(text="Planned."), Turn(text="Summed up."))
    await talk.says("Plan.")
    await talk.post("/compact")
    await talk.wait()


async def _terminals(served: Served, stream: AsyncIterator[Json]) -> None:
    made = await served.post("/pty", {"command": "sh", "args": ["-c", "read line"]})
    await served.ask("PUT", f"/pty/{made['id']}", {"title": "Walk"})
    await served.ask("DELETE", f"/pty/{made['id']}")
    ended = (await served.post("/api/pty", {"command": "true"}))["data"]
    await until(stream, "pty.exited", id=ended["id"])
    await served.ask("DELETE", f"/api/pty/{ended['id']}", status=204)


async def _orders(served: Served) -> None:
    await served.post("/tui/append-prompt", {"text": "on"})
    await served.post("/tui/open-help")
    await served.post("/tui/show-toast", {"message": "On", "variant": "info"})
    await served.post("/tui/select-session", {"sessionID": await served.session()})


async def _around(served: Served, here: Json) -> None:
    """What is not a session's."""
    project = await served.get("/project/current", **here)
    await served.ask("PATCH", f"/project/{project['id']}", {"name": "Walk"}, **here)
    await served.get("/config", **here)
    made = await served.post("/experimental/worktree", {"startCommand": "exit 3"}, **here)
    await served.ask("DELETE", "/experimental/worktree", {"directory": made["directory"]}, **here)
    await served.ask("PUT", "/auth/walked", {"type": "api", "key": "a key for walking"})
    await served.ask("DELETE", "/auth/walked")
    await served.ask("PATCH", "/config", {"small_model": "fake/fake"}, **here)


async def _ended(served: Served, here: Json) -> None:
    await served.post("/instance/dispose", **here)
    async with asyncio.timeout(SECONDS), served.http.stream("GET", "/global/event") as answer:
        lines = answer.aiter_lines()
        await anext(lines)
        await served.post("/global/dispose")
        async for line in lines:
            if line.startswith("data: ") and json.loads(line[6:])["payload"]["type"] == "global.disposed":
                break

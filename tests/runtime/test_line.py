"""As many turns at once as may run, and the rest in a line, fair between projects."""

from __future__ import annotations

import json
from pathlib import Path

from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Turn, Wait
from tests.runtime.conftest import repository
from tests.server import Server, model_config, until


async def test_turns_wait_in_line(home: Path, tmp_path: Path) -> None:
    one, two = repository(tmp_path / "one"), repository(tmp_path / "two")
    script = [Turn(text=["first ", Wait("first"), "ended"]), *(Turn(text=f"{n}.") for n in range(3))]
    async with OpenAIServer(script) as model:
        server = Server(home, one, model_config(model.base_url), {"OPENCODE_WEB_TURNS": "1"})
        server.start()
        try:
            async with server.client() as client, client.events() as events:
                sessions = [(await client.create_session(title=str(n)))["id"] for n in range(3)]
                made = await client.http.post("/session", params={"directory": str(two)}, json={})
                other = made.json()["id"]
                await client.prompt_async(sessions[0], "One.")
                await until(events, "message.part.delta", delta="first ")
                for session in (*sessions[1:], other):
                    await client.prompt_async(session, f"Of {session}.")
                shown = {}
                for session in (*sessions[1:], other):
                    project = (await client.session(session))["projectID"]
                    shown[session] = (await client.http.get(f"/p/{project}/s/{session}")).text
                assert "place 2 in line" in shown[sessions[1]]
                assert "place 3 in line" in shown[sessions[2]]
                assert "place 1 in line" in shown[other]
                model.gate("first").open()
                order = [other, *sessions[1:]]
                for session in sessions:
                    await until(events, "session.idle", sessionID=session)
                asked = [json.dumps(request.body) for request in model.requests[1:]]
                assert [f"Of {session}." in text for session, text in zip(order, asked, strict=True)] == [
                    True
                ] * 3
        finally:
            server.stop()

"""A verdict is told to the model at the next boundary, once; a redo is told as well."""

from __future__ import annotations

import json
import re
from pathlib import Path

from bench.client import Client
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Body, ToolUse, Turn
from tests.server import Server, model_config, running

BEFORE = "".join(f"line {number}\n" for number in range(1, 31))
AFTER = BEFORE.replace("line 3\n", "agent three\n").replace("line 25\n", "agent twenty-five\n")


def told(body: Body) -> list[str]:
    """The updates of the system context in a request."""
    texts = [json.dumps(message["content"]) for message in body["messages"] if message["role"] != "system"]
    return [text for text in texts if "context-update" in text]


async def verdict(client: Client, page: str, verb: str, **form: str) -> str:
    """Press a button of the review panel; the answer's HTML."""
    origin = str(client.http.base_url).rstrip("/")
    answer = await client.http.post(f"{page}/review/{verb}", data=form, headers={"Origin": origin})
    assert answer.status_code == 200, answer.text
    return answer.text


async def test_what_was_undone_is_told_once_and_its_redo_too(home: Path, project: Path) -> None:
    (project / "a.txt").write_text(BEFORE)
    write = ToolUse("write", {"filePath": "a.txt", "content": AFTER})
    turns = [Turn(tools=[write]), *(Turn(text=f"Answer {number}.") for number in range(5))]
    async with (
        OpenAIServer(turns) as model,
        running(Server(home, project, model_config(model.base_url))) as client,
    ):
        session = await client.create_session("reviewed")
        await client.prompt(session["id"], "Write it.")
        page = f"/p/{session['projectID']}/s/{session['id']}"
        panel = (await client.http.get(f"{page}/review")).text
        hunks = re.findall(r'data-hunk="([^"]+)"', panel)
        assert len(hunks) == 2

        await verdict(
            client, page, "undo", scope="session", path="a.txt", hunk=hunks[0], words="Not that one."
        )
        assert (project / "a.txt").read_text() == AFTER.replace("agent three\n", "line 3\n")
        await client.prompt(session["id"], "Go on.")
        await client.prompt(session["id"], "And on.")
        await verdict(client, page, "redo", scope="session", path="a.txt")
        assert (project / "a.txt").read_text() == AFTER
        await client.prompt(session["id"], "And on again.")
        bodies = [request.body for request in model.requests]

    assert [len(told(body)) for body in bodies] == [0, 0, 1, 1, 2]
    for said in ("a.txt, line 3", "agent three", "line 3", "Not that one."):
        assert said in told(bodies[2])[0]
    assert "twenty-five" not in told(bodies[2])[0]
    assert "brought back" in told(bodies[4])[1]

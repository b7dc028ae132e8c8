"""OpenCode's JavaScript SDK, both clients of it, and what a third party has built on it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests import opencode
from tests.loopback.script import ToolUse, Turn
from tests.protocol.served import Served
from tests.server import PASSWORD

pytestmark = pytest.mark.asyncio(loop_scope="session")

SECONDS = 60


async def played(script: str, served: Served, modules: Path) -> Any:
    """What a script of this folder prints."""
    arguments = [str(modules), served.server.url, PASSWORD, str(served.server.project)]
    process = await asyncio.create_subprocess_exec(
        "node",
        str(Path(__file__).with_name(script)),
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), SECONDS)
    assert process.returncode == 0, err.decode()[-2000:]
    return json.loads(out)


async def test_the_first_client(served: Served, user_environ: dict[str, str]) -> None:
    made = served.server.project / "asked.txt"
    write = ToolUse("write", {"filePath": "asked.txt", "content": "by the SDK\n"})
    served.plays(Turn(tools=[write]), Turn(text="Made."), Turn(text="You are welcome."))
    told = await played("sdk_v1.mjs", served, opencode.sdk(user_environ))
    assert told["seen"][0] == "server.connected"
    assert {"session.created", "message.part.delta", "permission.asked", "session.idle"} <= {*told["seen"]}
    assert [entry["info"]["role"] for entry in told["messages"]] == ["user", "assistant", "assistant"]
    assert told["reverted"]["revert"]["messageID"] == told["messages"][0]["info"]["id"]
    assert "revert" not in told["unreverted"]
    assert told["told"]["parts"][-2]["text"] == "You are welcome."
    assert made.read_text() == "by the SDK\n"
    made.unlink()
    assert told["session"]["id"] in told["lists"]["sessions"]
    assert {"build", "plan"} <= {*told["lists"]["agents"]}
    assert told["lists"]["providers"]["fake"] == "fake"
    assert told["lists"]["files"] == ["hello.py"]
    assert told["lists"]["content"].startswith("def hello")
    assert told["lists"]["project"] == str(served.server.project)
    assert told["deleted"] is True
    assert told["gone"][0] == 404
    assert told["gone"][1]["name"] == "NotFoundError"


@pytest.mark.long
async def test_the_second_client(served: Served, user_environ: dict[str, str]) -> None:
    served.plays(Turn(text="Hello to you."), Turn(text="And again."))
    told = await played("sdk_v2.mjs", served, opencode.sdk(user_environ))
    assert told["answer"]["parts"][1]["text"] == "Hello to you."
    assert told["admitted"]["sessionID"] == told["made"]["id"]
    assert [message["type"] for message in told["messages"]][-2:] == ["user", "assistant"]
    assert told["messages"][-1]["content"][0]["text"] == "And again."
    assert {told["first"]["id"], told["made"]["id"]} <= {*told["lists"]["sessions"]}
    assert "build" in told["lists"]["agents"]
    assert "fake" in told["lists"]["models"]
    assert told["lists"]["location"]["directory"] == str(served.server.project)
    assert told["missing"][0] == 404
    assert told["missing"][1]["_tag"] == "SessionNotFoundError"


@pytest.mark.long
async def test_a_bridge_of_a_third_party(served: Served, user_environ: dict[str, str]) -> None:
    served.plays(Turn(text=["Hello", " from here."]), Turn(text="Again."))
    told = await played("bridge.mjs", served, opencode.bridge(user_environ))
    assert "".join(told["chunks"]) == "Hello from here."
    assert len(told["chunks"]) > 1
    assert (told["text"], told["finishReason"]) == ("Again.", "stop")

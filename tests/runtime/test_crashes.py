"""A crash at every point of a turn: afterwards the rows are true and nothing admitted is lost."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import pytest

from bench.client import Client
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn
from tests.server import PATIENCE, Server, model_config, parts_of, running, until

SCRIPT = [
    Turn(text=["I look. "], tools=[ToolUse("write", {"filePath": "made.txt", "content": "made"})]),
    Turn(text="Done."),
    Turn(text="Later."),
]


async def crash(server: Server, point: str) -> str:
    """Prompt until the server has killed itself; the session's id."""
    dying = Server(
        server.home,
        server.project,
        server.config,
        {"CRASH_AT": point},
        module="tests.runtime.crashing",
    )
    await asyncio.to_thread(dying.start)
    assert dying.process is not None
    async with dying.client() as client:
        session = await client.create_session(title="named")
        with contextlib.suppress(Exception):  # the answer may never come
            await client.prompt_async(session["id"], "Write it.")
    assert await asyncio.to_thread(dying.process.wait, PATIENCE) == -9, dying.log()
    return str(session["id"])


async def settled(client: Client, session_id: str) -> list[dict[str, Any]]:
    """The history once the session is idle and nothing waits."""
    async with client.events() as events:
        while (await client.status()).get(session_id) or not await client.messages(session_id):
            await until(events, "session.idle")
    return await client.messages(session_id)


@pytest.mark.parametrize("point", ["within promotion", "promoted"])
async def test_a_prompt_that_nobody_began_to_answer_runs(home: Path, project: Path, point: str) -> None:
    async with OpenAIServer(SCRIPT) as model:
        server = Server(home, project, model_config(model.base_url))
        session_id = await crash(server, point)
        assert model.requests == []
        async with running(server) as client, client.events() as events:
            history = await client.messages(session_id)
            while "Done." not in [part["text"] for part in parts_of(history, "text")]:
                await until(events, "session.idle")
                history = await client.messages(session_id)
            assert [message["info"]["role"] for message in history] == ["user", "assistant", "assistant"]
            assert not any(message["info"].get("error") for message in history)


@pytest.mark.parametrize(
    ("point", "written"), [("before a tool runs", False), ("before a tool settles", True)]
)
async def test_a_call_that_was_under_way_is_interrupted_and_the_model_is_told(
    home: Path, project: Path, point: str, written: bool
) -> None:
    async with OpenAIServer(SCRIPT) as model:
        server = Server(home, project, model_config(model.base_url))
        session_id = await crash(server, point)
        async with running(server) as client:
            history = await settled(client, session_id)
            (part,) = parts_of(history, "tool")
            assert part["state"]["status"] == "error"
            assert part["state"]["metadata"]["interrupted"] is True
            assert [text["text"] for text in parts_of(history, "text")] == ["Write it.", "I look. "]
            assert history[-1]["info"]["error"]["name"] == "MessageAbortedError"
            assert history[-1]["info"]["time"]["completed"]
            assert (project / "made.txt").exists() == written
            await client.prompt(session_id, "What happened?")
            told = [body for body in model.requests[1].body["messages"] if body["role"] == "tool"]
            assert "server ended" in told[0]["content"]
            await client.revert(session_id, history[0]["info"]["id"])
            assert not (project / "made.txt").exists()


async def test_between_a_settled_step_and_the_next(home: Path, project: Path) -> None:
    async with OpenAIServer(SCRIPT) as model:
        server = Server(home, project, model_config(model.base_url))
        session_id = await crash(server, "settled")
        async with running(server) as client:
            history = await settled(client, session_id)
            (part,) = parts_of(history, "tool")
            assert part["state"]["status"] == "completed"
            assert len(parts_of(history, "step-finish")) == 1
            assert history[-1]["info"]["error"]["name"] == "MessageAbortedError"
            assert (await client.status()).get(session_id) is None
            await client.prompt(session_id, "Go on.")
            sent = model.requests[1].body["messages"]
            assert [message["role"] for message in sent][-3:] == ["assistant", "tool", "user"]

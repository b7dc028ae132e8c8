"""A real server tells what happened, and forgets nothing where it is killed."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from bench.client import Client
from tests.loopback.hooks import HookServer
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn
from tests.server import PATIENCE, Server, model_config, running


async def set_up(client: Client, hook: HookServer, **more: str) -> None:
    given = {"format": "json", "name": "Here", "address": f"{hook.url}/x", "secret": "a secret", **more}
    await client.http.post(
        "/settings/notifiers/save", data={**given, "kinds": ["asks", "done", "failed", "goal"]}
    )


async def begin(client: Client, text: str) -> str:
    session = await client.create_session("a night's work")
    parts = [{"type": "text", "text": text}]
    await client.post(f"/session/{session['id']}/prompt_async", {"parts": parts})
    return str(session["id"])


async def test_questions_and_ends_are_told_where_they_lead(home: Path, project: Path) -> None:
    script = [Turn(tools=[ToolUse("bash", {"command": "ls", "description": "List"})]), Turn(text=["Done."])]
    async with OpenAIServer(script) as model, HookServer() as hook:
        server = Server(home, project, model_config(model.base_url, permission={"bash": "ask"}))
        async with running(server) as client:
            await set_up(client, hook)
            session = await begin(client, "List it.")
            asked = await hook.body(1)
            (news,) = asked["news"]
            assert (news["kind"], news["what"], news["session"]["id"]) == ("asks", "permission", session)
            assert asked["url"].startswith(f"{server.url}/p/")
            assert asked["url"].endswith(session)
            assert "ls" not in asked["text"]
            await client.post(f"/permission/{news['request']}/reply", {"reply": "once"})
            assert (await hook.body(2))["news"][0]["kind"] == "done"


async def noted(client: Client) -> None:
    """Its row follows the answer."""
    async with asyncio.timeout(PATIENCE):
        while "Told" not in (await client.http.get("/settings/notifiers")).text:
            pass


@pytest.mark.sqlite
async def test_killed_while_it_tells(home: Path, project: Path) -> None:
    async with OpenAIServer([Turn(text=["Done."])]) as model, HookServer() as hook:
        hook.hold()
        server = Server(home, project, model_config(model.base_url))
        await asyncio.to_thread(server.start)
        async with server.client() as client:
            await set_up(client, hook)
            await begin(client, "Go.")
            first = await hook.request(1)
        server.kill()
        hook.release()
        with sqlite3.connect(server.data / "db.sqlite3") as rows:  # its claim lapses
            rows.execute("UPDATE opencode_sessions_delivery SET time_due = 1 WHERE state = 'waiting'")
        rows.close()
        async with running(server) as client:
            second = await hook.request(2)
            await noted(client)
        assert second.headers["webhook-id"] == first.headers["webhook-id"]
        with sqlite3.connect(server.data / "db.sqlite3") as rows:
            found = rows.execute("SELECT state FROM opencode_sessions_delivery").fetchall()
            rows.execute("UPDATE opencode_sessions_delivery SET time_due = 1")
        rows.close()
        assert found == [("sent",)]
        async with running(server) as client:
            await set_up(client, hook, name="Another")
            await begin(client, "Again.")
            await hook.request(4)
        ids = [request.headers["webhook-id"] for request in hook.requests]
        assert ids.count(first.headers["webhook-id"]) == 2, "not once more after it was acknowledged"

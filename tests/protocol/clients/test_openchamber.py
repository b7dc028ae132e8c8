"""OpenChamber, a third party's page for OpenCode, in front of our server: a stream is stopped and asked on.

Its page speaks to our server through its own, so that is what is driven here.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from sessions.core.ids import ascending
from tests import opencode
from tests.loopback.script import Turn, Wait
from tests.protocol.served import Json, Served
from tests.server import PASSWORD, PATIENCE

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="session")]


@pytest_asyncio.fixture(loop_scope="session")
async def chamber(
    served: Served, user_environ: dict[str, str], tmp_path: Path
) -> AsyncIterator[httpx.AsyncClient]:
    """What its page asks, of an instance that has our server as its OpenCode."""
    modules = opencode.openchamber(user_environ)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environ = opencode.environment(tmp_path, PASSWORD) | {
        "OPENCODE_HOST": served.server.url,
        "OPENCODE_SKIP_START": "true",
    }
    server = modules / "@openchamber" / "web" / "server" / "index.js"
    process = await asyncio.create_subprocess_exec(
        "node", str(server), "--port", str(port), cwd=tmp_path, env=environ
    )
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}/api", timeout=PATIENCE) as http:
            await _answers(http)
            yield http
    finally:
        process.terminate()
        await process.wait()


async def _answers(http: httpx.AsyncClient) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:  # it tells nobody when it listens
            with suppress(httpx.TransportError):
                if (await http.get("/session")).is_success:
                    return
            await asyncio.sleep(0.2)


@asynccontextmanager
async def events(http: httpx.AsyncClient, folder: str) -> AsyncIterator[AsyncIterator[Json]]:
    async with http.stream("GET", "/event", params={"directory": folder}) as answer:
        yield (json.loads(line[5:]) async for line in answer.aiter_lines() if line.startswith("data:"))


async def heard(frames: AsyncIterator[Json], type: str, **properties: str) -> Json:
    async with asyncio.timeout(PATIENCE):
        async for event in frames:
            if event["type"] == type and properties.items() <= event["properties"].items():
                return event
    raise AssertionError(f"the stream ended before {type}")


async def test_a_stream_is_stopped_and_the_next_prompt_answered(
    served: Served, chamber: httpx.AsyncClient
) -> None:
    folder = str(served.server.project)
    here = {"directory": folder}
    session = (await chamber.post("/session", params=here, json={})).raise_for_status().json()["id"]
    served.plays(Turn(text=["Begun", Wait("chamber")]), Turn(text="Answered."))
    async with events(chamber, folder) as frames:
        await heard(frames, "server.connected")
        for words in ("Go.", "And now?"):
            prompt = {"messageID": ascending("msg"), "parts": [{"type": "text", "text": words}]}
            sent = await chamber.post(f"/session/{session}/prompt_async", params=here, json=prompt)
            sent.raise_for_status()
            delta = await heard(frames, "message.part.delta", sessionID=session)
            if words == "Go.":
                (await chamber.post(f"/session/{session}/abort", params=here)).raise_for_status()
                await heard(frames, "session.idle", sessionID=session)
        assert delta["properties"]["delta"] == "Answered."
        await heard(frames, "session.idle", sessionID=session)
    entries = (await chamber.get(f"/session/{session}/message", params=here)).json()
    assert entries[1]["info"]["error"]["name"] == "MessageAbortedError"
    assert entries[3]["info"]["parentID"] == prompt["messageID"]

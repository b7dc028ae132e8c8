"""`/log`, `/instance/dispose`, `/global/dispose`."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from tests.protocol.served import Served
from tests.server import until

pytestmark = pytest.mark.asyncio(loop_scope="session")

OWN_ERROR = "a bad value is answered as OpenCode does and not as its document says"


async def test_a_client_writes_to_the_log(served: Served) -> None:
    entry = {"service": "tui", "level": "warn", "message": "first\nsecond", "extra": {"n": 1}}
    assert await served.post("/log", entry) is True
    (line,) = [line for line in served.server.log().splitlines() if "tui: first" in line]
    assert "WARNING" in line
    assert line.endswith('first\\nsecond {"n": 1}')
    for wrong in (entry | {"level": "loud"}, {"service": "x", "level": "info"}):
        await served.post("/log", wrong, status=400, departs=OWN_ERROR)


async def test_a_folder_disposed_of_ends_its_streams(served: Served, tmp_path: Path) -> None:
    await served.session()  # so that the server knows its own project too
    here = {"directory": str(tmp_path)}
    wait = httpx.Timeout(30)
    async with (
        served.http.stream("GET", "/global/event", timeout=wait) as everywhere,
        served.client.events() as others,
        served.http.stream("GET", "/event", params=here, timeout=wait) as stream,
    ):
        frames = stream.aiter_lines()
        assert (await anext(frames)).startswith("id:")
        assert '"server.connected"' in await anext(frames)
        assert await served.post("/instance/dispose", **here) is True
        rest = [json.loads(line[6:]) async for line in frames if line.startswith("data:")]
        assert [event["type"] for event in rest] == ["server.instance.disposed"]
        assert rest[0]["properties"] == here
        assert await served.post("/global/dispose") is True
        await until(others, "server.instance.disposed", directory=str(served.server.project))
        assert [event async for event in others] == []
        told = []
        async for line in everywhere.aiter_lines():
            if line.startswith("data:"):
                told.append(json.loads(line[6:]))
            if told and told[-1]["payload"]["type"] == "global.disposed":
                break
        assert told[-1]["directory"] == "global"
        assert here["directory"] in [event.get("directory") for event in told]

"""`/lsp` and `lsp.updated`: what a client is told of language servers."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.loopback.script import ToolUse, Turn
from tests.protocol.conftest import repository
from tests.protocol.served import Served

pytestmark = pytest.mark.asyncio(loop_scope="session")

RUFF = [str(Path(sys.executable).with_name("ruff")), "server"]


async def test_servers_that_run_and_those_that_failed(served: Served, tmp_path: Path) -> None:
    project = repository(tmp_path)
    here = str(project)
    lsp = {
        "own": {"command": RUFF, "extensions": [".py"]},
        "broken": {"command": ["false"], "extensions": [".say"]},
        "absent": {"command": ["/no/such/program"], "extensions": [".say"]},
    }
    await served.ask("PATCH", "/config", {"lsp": lsp}, directory=here)
    assert await served.get("/lsp", directory=here) == []
    (project / "a.py").write_text("import os\n")
    (project / "a.say").touch()
    reads = [ToolUse("read", {"filePath": str(project / name)}) for name in ("a.py", "a.say")]
    served.plays(Turn(tools=reads), Turn(text="Done."))
    session = await served.post("/session", {"title": "x"}, directory=here)
    wanted = [
        {"id": "broken", "name": "broken", "root": "", "status": "error"},
        {"id": "own", "name": "own", "root": "", "status": "connected"},
    ]
    async with served.http.stream("GET", "/event", params={"directory": here}, timeout=60) as stream:
        frames = (json.loads(line[5:]) async for line in stream.aiter_lines() if line.startswith("data:"))
        assert (await anext(frames))["type"] == "server.connected"
        await served.client.prompt(session["id"], "Go")
        while sorted(await served.get("/lsp", directory=here), key=lambda one: str(one["id"])) != wanted:
            while (event := await anext(frames))["type"] != "lsp.updated":
                pass
            assert event["properties"] == {}
    web = project / "web"
    web.mkdir()
    assert {one["root"] for one in await served.get("/lsp", directory=str(web))} == {".."}


async def test_there_are_none_unless_they_are_switched_on(served: Served, tmp_path: Path) -> None:
    project = repository(tmp_path)
    (project / "a.py").touch()
    served.plays(Turn(tools=[ToolUse("read", {"filePath": str(project / "a.py")})]), Turn(text="Done."))
    session = await served.post("/session", {"title": "x"}, directory=str(project))
    await served.client.prompt(session["id"], "Go")
    assert await served.get("/lsp", directory=str(project)) == []

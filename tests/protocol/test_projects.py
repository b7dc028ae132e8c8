"""`/project…`: what was opened, what clients keep with it, `git init`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.protocol.served import Served
from tests.protocol.test_vcs import SHAPE, git

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_the_project_of_the_server(served: Served) -> None:
    current = await served.get("/project/current")
    assert (current["worktree"], current["vcs"]) == (str(served.server.project), "git")
    below = await served.get("/project/current", directory=str(served.server.project / "src"))
    assert below["id"] == current["id"]
    assert current["id"] in [item["id"] for item in await served.get("/project")]
    assert await served.get(f"/project/{current['id']}/directories") == [{"directory": current["worktree"]}]


async def test_what_a_client_keeps_with_a_project(served: Served, tmp_path: Path) -> None:
    place: dict[str, Any] = {"directory": str(tmp_path)}
    path = f"/project/{(await served.get('/project/current', **place))['id']}"
    first = {"name": "Mine", "icon": {"color": "pink"}, "commands": {"start": "make"}}
    await served.ask("PATCH", path, first, **place)
    async with served.http.stream("GET", "/event", params=place) as stream:
        frames = (json.loads(line[5:]) async for line in stream.aiter_lines() if line.startswith("data:"))
        assert (await anext(frames))["type"] == "server.connected"
        changed = await served.ask("PATCH", path, {"icon": {"override": "data:,x"}})
        told = await anext(frame async for frame in frames if frame["type"] == "project.updated")
    assert changed["icon"] == {"color": "pink", "override": "data:,x"}
    assert (changed["name"], changed["commands"]) == ("Mine", {"start": "make"})
    assert told["properties"] == changed == await served.get("/project/current", **place)


@pytest.mark.parametrize("body", [{"name": 4}, {"icon": "x"}, {"commands": {"start": ["make"]}}])
async def test_what_a_project_does_not_take(served: Served, body: dict[str, Any]) -> None:
    project = await served.get("/project/current")
    answer = await served.ask("PATCH", f"/project/{project['id']}", body, status=400, departs=SHAPE)
    assert answer["data"]["message"].startswith(next(iter(body)))
    assert await served.get("/project/current") == project


async def test_a_project_that_is_not_known(served: Served) -> None:
    answer = await served.ask("PATCH", "/project/nope", {"name": "x"}, status=404)
    assert answer["projectID"] == "nope"
    assert await served.get("/project/nope/directories") == []


async def test_a_folder_becomes_a_repository_once(served: Served, tmp_path: Path) -> None:
    place: dict[str, Any] = {"directory": str(tmp_path)}
    before = await served.get("/project/current", **place)
    made = await served.post("/project/git/init", **place)
    assert "vcs" not in before
    assert (made["id"], made["vcs"]) == (before["id"], "git")
    assert git(tmp_path, "rev-parse", "--is-inside-work-tree") == "true\n"
    head = (tmp_path / ".git" / "HEAD").stat().st_mtime_ns
    (tmp_path / "sub").mkdir()
    assert (await served.post("/project/git/init", directory=str(tmp_path / "sub")))["id"] == made["id"]
    assert (tmp_path / ".git" / "HEAD").stat().st_mtime_ns == head
    assert not (tmp_path / "sub" / ".git").exists()

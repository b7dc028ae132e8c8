"""Language servers on the page of servers without a browser: what is refused, what hostile names become."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agents.servers.lsp.install import DISABLED
from agents.servers.lsp.service import service
from sessions.core.db import in_db
from sessions.core.store import projects
from tests.guarded import GuardedClient

pytestmark = pytest.mark.django_db(transaction=True)


class World:
    """A project, the user's own configuration, and the page."""

    def __init__(self, project: str, folder: Path, own: Path) -> None:
        self.project = project
        self.folder = folder
        self.own = own / "opencode.jsonc"
        self._client = GuardedClient()

    async def get(self, what: str = "", **query: str) -> str:
        answer = await self._client.get(f"/servers/languages{what}", {"project": self.project, **query})
        assert answer.status_code == 200, answer.content
        return answer.content.decode()

    async def post(self, what: str, status: int = 204, **fields: str) -> str:
        answer = await self._client.post(f"/servers/languages/{what}", {"project": self.project, **fields})
        assert answer.status_code == status, answer.content
        return answer.content.decode()


@pytest.fixture
async def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any) -> AsyncIterator[World]:
    settings.MIDDLEWARE = []
    own = tmp_path / "config" / "opencode"
    own.mkdir(parents=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(own.parent))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    folder = tmp_path / "project"
    folder.mkdir()
    project = await in_db(projects.open_project, folder)
    yield World(project.id, folder, own)
    await service.close()


async def test_one_click_writes_the_user_s_configuration(world: World) -> None:
    world.own.write_text('{\n  // mine\n  "username": "bob"\n}\n')
    assert "They are off." in await world.get()
    await world.post("switch", on="1")
    assert world.own.read_text() == '{\n  // mine\n  "username": "bob",\n  "lsp": true\n}\n'
    assert "Turn off" in await world.get()
    await world.post("switch")
    assert '"lsp": false' in world.own.read_text()
    assert "They are off." in await world.get()


async def test_what_a_project_says_against_it_is_told(world: World) -> None:
    (world.folder / "opencode.json").write_text('{"lsp": false}')
    told = await world.post("switch", 422, on="1")
    assert "the project&#x27;s own configuration keeps them switched off" in told


async def test_a_configuration_that_cannot_be_read_is_told(world: World) -> None:
    world.own.write_text("{ nothing")
    assert 'class="problem"' in await world.post("switch", 422, on="1")
    assert world.own.read_text() == "{ nothing"


async def test_entries_are_not_taken_away_by_a_switch(world: World) -> None:
    world.own.write_text('{"lsp": {"ruff": {"disabled": true}}}')
    shown = await world.get()
    assert "set up in" in shown
    assert "/servers/languages/switch" not in shown


async def test_servers_of_the_project_s_files_are_listed(world: World) -> None:
    world.own.write_text('{"lsp": true}')
    (world.folder / "web" / "deep").mkdir(parents=True)
    for name in ("a.vue", "web/Dockerfile", "web/deep/a.gleam"):
        (world.folder / name).touch()
    shown = await world.get()
    for text in ("Vue", "Dockerfile", "Gleam", "@vue/language-server@2", "it comes with Gleam"):
        assert text in shown
    assert "Terraform" not in shown
    more = await world.get("/more")
    assert "Terraform" in more
    assert "Gleam" not in more


async def test_installing_can_be_switched_off(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.own.write_text('{"lsp": true}')
    (world.folder / "Dockerfile").touch()
    monkeypatch.setenv(DISABLED, "true")
    shown = await world.get()
    assert "npm install --global dockerfile-language-server-nodejs" in shown
    assert "/servers/languages/install" not in shown
    assert DISABLED in await world.post("install", 422, row="dockerfile")


async def test_without_npm_nothing_is_offered_that_takes_it(world: World) -> None:
    world.own.write_text('{"lsp": true}')
    (world.folder / "Dockerfile").touch()
    empty = world.folder.parent / "empty"
    empty.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{empty}")
        assert "npm is not on PATH" in await world.post("install", 422, row="dockerfile")
        shown = await world.get()
    assert "npm is not on PATH" in shown
    assert "/servers/languages/install" not in shown


async def test_only_what_the_table_has_can_be_installed(world: World) -> None:
    world.own.write_text(json.dumps({"lsp": {"evil": {"command": ["x"], "extensions": [".x"]}}}))
    for row in ("evil", "gopls", "../x", ""):
        await world.post("install", 404, row=row)
    await world.post("retry", 404, row="evil", root=str(world.folder))


async def test_names_and_logs_are_hostile(world: World) -> None:
    name = "<script>alert(1)</script>'\"}"
    command = ["sh", "-c", "echo '<img src=x onerror=1>' >&2; exit 3"]
    world.own.write_text(json.dumps({"lsp": {name: {"command": command, "extensions": [".x"]}}}))
    (world.folder / "a.x").touch()
    await service.touch(world.folder, world.folder / "a.x", wait=30)
    shown = await world.get()
    assert "Failed" in shown
    assert "<script>" not in shown
    assert "<img" not in shown
    log = await world.get("/log", row=name, root=str(world.folder))
    assert "&lt;img src=x" in log
    assert "<img" not in log


async def test_the_log_of_a_server_that_is_gone_is_asked_for_without_a_fault(world: World) -> None:
    fields = {"project": world.project, "row": "ruff", "root": str(world.folder), "seen": "b33785b9b01d"}
    assert (await GuardedClient().get("/servers/languages/log", fields)).status_code == 204


async def test_a_project_whose_folder_is_gone(world: World) -> None:
    world.folder.rmdir()
    answer = await GuardedClient().get("/servers/languages", {"project": world.project})
    assert answer.status_code == 404

"""Who shares a connection, and what begins and ends it."""

from __future__ import annotations

import asyncio
import json
import os
import select
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest

from agents.agent import trust
from agents.config.schema import McpConfig
from agents.servers.mcp.hub import Hub
from agents.servers.mcp.server import CONNECTED, DISABLED
from sessions.core import bus
from tests.agents.servers.mcp.watching import PATIENCE, raw
from tests.server import ROOT, Server, running


@pytest.fixture
async def hub() -> AsyncIterator[Hub]:
    made = Hub()
    yield made
    await made.close()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a subfolder in a repository; `configure` says what servers the user has."""
    folder = tmp_path / "project"
    (folder / "sub").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    configure(monkeypatch, one=raw())
    return folder


def configure(monkeypatch: pytest.MonkeyPatch, experimental: Any = None, **servers: Any) -> None:
    config = {"mcp": servers, **({"experimental": experimental} if experimental else {})}
    monkeypatch.setenv("OPENCODE_CONFIG_CONTENT", json.dumps(config))


async def test_sessions_of_a_project_share_a_connection(hub: Hub, project: Path) -> None:
    one = hub.connections(project)["one"]
    assert hub.connections(project / "sub")["one"] is one
    assert hub.connections(project)["one"] is one
    await hub.ready(project, PATIENCE)
    assert hub.statuses(project) == {"one": CONNECTED}


async def test_projects_do_not_share_one(hub: Hub, project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    assert hub.connections(other)["one"] is not hub.connections(project)["one"]


async def test_a_server_that_is_configured_otherwise_is_another_connection(
    hub: Hub, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = hub.connections(project)["one"]
    await hub.ready(project, PATIENCE)
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    before.changed.append(
        lambda one, _: loop.call_soon_threadsafe(ended.set) if one.state is DISABLED else None
    )
    configure(monkeypatch, one=raw(timeout=5000))
    after = hub.connections(project)["one"]
    assert after is not before
    assert after.server.timeout == 5
    await asyncio.wait_for(ended.wait(), PATIENCE)
    configure(monkeypatch, one=raw(timeout=5000, enabled=False))
    assert hub.connections(project) == {}
    assert hub.statuses(project) == {"one": DISABLED}


async def test_a_connection_lives_as_long_as_a_folder_wants_it(
    hub: Hub, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = hub.connections(project)["one"]
    hub.connections(project / "sub")
    configure(monkeypatch)
    assert hub.connections(project) == {}
    configure(monkeypatch, one=raw())
    assert hub.connections(project / "sub")["one"] is one


async def test_what_is_configured_wrong_says_so(
    hub: Hub, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no, slow = {"type": "local", "command": []}, {"type": "local", "command": ["sleep", "600"]}
    configure(monkeypatch, experimental={"mcp_timeout": 1500}, no=no, one=slow)
    configured = hub.statuses(project)
    assert configured["no"].wire() == {"status": "failed", "error": "command: there is none to start"}
    assert hub.connections(project)["one"].server.timeout == 1.5
    assert configured["one"].wire() == {"status": "disabled"}  # it is still connecting


async def test_what_clients_add_lasts_until_it_is_forgotten(hub: Hub, project: Path) -> None:
    hub.add(project, "two", cast(McpConfig, raw()))
    assert list(hub.connections(project)) == ["one", "two"]
    hub.switch(project, "one", False)
    assert list(hub.connections(project)) == ["two"]
    with pytest.raises(KeyError):
        hub.switch(project, "three", True)
    hub.forget(project, "one")
    assert list(hub.connections(project)) == ["one", "two"]
    hub.forget(project)
    assert list(hub.connections(project)) == ["one"]


async def test_what_a_repository_asks_for_waits_for_trust(
    hub: Hub, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(monkeypatch)
    (project / "opencode.json").write_text(json.dumps({"mcp": {"theirs": raw()}}))
    assert hub.statuses(project) == {}
    trust.trust(project, trust.fingerprint(trust.untrusted(project)))
    assert list(hub.connections(project)) == ["theirs"]
    trust.revoke(project)
    assert hub.connections(project) == {}


async def test_listeners_of_the_folders_are_told(hub: Hub, project: Path) -> None:
    async with bus.subscribe() as mailbox:
        hub.connections(project)
        hub.connections(project / "sub")
        seen: set[tuple[str, str]] = set()
        wanted = {
            (type, str(folder))
            for type in ("mcp.changed", "mcp.tools.changed")
            for folder in (project, project / "sub")
        }
        async with asyncio.timeout(PATIENCE):
            while not wanted <= seen:
                for event in await mailbox.take():
                    if event.type.startswith("mcp."):
                        assert event.properties == {"server": "one"}
                        seen.add((event.type, event.directory))


async def told(mailbox: bus.Subscription, *wanted: tuple[str, str]) -> None:
    """Until these events came, of (type, server)."""
    missing = set(wanted)
    async with asyncio.timeout(PATIENCE):
        while missing:
            missing -= {(event.type, event.properties.get("server")) for event in await mailbox.take()}


async def test_who_listens_is_told_of_a_server_that_comes_or_goes(hub: Hub, project: Path) -> None:
    hub.connections(project)
    await hub.ready(project, PATIENCE)
    async with bus.subscribe() as mailbox:
        hub.add(project, "off", cast(McpConfig, {"enabled": False}))
        await told(mailbox, ("mcp.changed", "off"))
        hub.switch(project, "one", False)
        await told(mailbox, ("mcp.changed", "one"), ("mcp.tools.changed", "one"))
        assert hub.statuses(project) == {"one": DISABLED, "off": DISABLED}
        hub.forget(project)
        await told(mailbox, ("mcp.changed", "off"), ("mcp.changed", "one"))


async def test_a_folder_that_is_disposed_of_begins_anew_with_what_is_configured(
    hub: Hub, project: Path
) -> None:
    hub.add(project, "two", cast(McpConfig, raw()))
    one = hub.connections(project)["one"]
    await hub.ready(project, PATIENCE)
    pid = await one.call(lambda client: client.call_tool("pid", {}))
    await hub.dispose(project)
    assert list(hub.connections(project)) == ["one"]
    assert hub.connections(project)["one"] is one
    assert (await one.call(lambda client: client.call_tool("pid", {}))).content != pid.content


async def test_the_wait_for_servers_is_bounded(
    hub: Hub, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(monkeypatch, one=raw(), mute=raw("silent"))
    hub.connections(project)
    await hub.ready(project, 0.01)
    assert hub.statuses(project)["mute"].status == "connecting"


def test_without_servers_nothing_is_loaded(tmp_path: Path) -> None:
    program = """
import sys, django; django.setup()
from pathlib import Path
from agents.toolkit.children.loop import background
from agents.servers.mcp.hub import hub
import agents.agent.runtime
assert hub.statuses(Path(sys.argv[1])) == {}
assert not background.started
assert not {"mcp", "mcp_types", "httpx2"} & sys.modules.keys()
"""
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "DJANGO_SETTINGS_MODULE": "opencode_web.settings"}
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], env=environ, check=True, cwd=tmp_path)


@pytest.mark.parametrize("ending", ["stop", "kill"])
async def test_servers_begin_with_the_app_and_end_with_it(tmp_path: Path, ending: str) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    note = tmp_path / "pid"
    os.mkfifo(note)
    config = {"mcp": {"one": raw(environment={"PID_FILE": str(note)})}}
    server = Server(home, project, config)
    async with running(server):
        pid = int(await asyncio.to_thread(note.read_text))  # nobody has asked for anything
        watcher = os.pidfd_open(pid)
        await asyncio.to_thread(server.kill if ending == "kill" else server.stop)
        assert (await asyncio.to_thread(select.select, [watcher], [], [], PATIENCE))[0]
        os.close(watcher)

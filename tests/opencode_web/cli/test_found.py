"""Commands find the server that runs, on whatever port: none is started beside it on one data folder."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import get_args
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from opencode_web.cli.verbs import MODES
from sessions.core.wire.session import Preset
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn, Wait
from tests.programs import without_javascript
from tests.server import PASSWORD, Server, model_config, running


async def test_a_link_a_turn_and_a_second_project(tmp_path: Path) -> None:
    for name in ("home", "project", "second"):
        (tmp_path / name).mkdir()
    async with OpenAIServer([Turn(text="Here.")]) as model:
        server = Server(tmp_path / "home", tmp_path / "project", model_config(model.base_url))
        async with running(server) as client:
            link = await asyncio.to_thread(server.command, "url")
            assert (link.returncode, link.stderr) == (0, "")
            assert link.stdout.startswith(f"{server.url}/auth/launch?token=")

            said = await asyncio.to_thread(server.command, "run", "Who is there?")
            assert (said.returncode, said.stdout) == (0, "Here.\n")
            assert len(await client.sessions()) == 1

            there = await asyncio.to_thread(server.command, str(tmp_path / "second"))
            assert there.returncode == 0, there.stderr
            words, opens = there.stdout.splitlines()
            assert words == f"opencode-web runs already at {server.url}; {tmp_path / 'second'} opens there."
            address = opens.removeprefix("Open ")
            project = parse_qs(urlsplit(address).query)["next"][0]
            async with httpx.AsyncClient(trust_env=False, follow_redirects=True) as browser:
                page = await browser.get(address)
            assert page.status_code == 200
            assert page.url.path.startswith(project)
            assert "second" in page.text

            own = await asyncio.to_thread(server.command, "serve", "--port", "0", str(tmp_path / "second"))
            assert own.returncode == 1
            assert "already uses" in own.stderr
        gone = await asyncio.to_thread(server.command, "url")
        assert gone.returncode == 1
        assert "no server answers" in gone.stderr


async def test_a_server_that_ends_before_the_turn_is_told(tmp_path: Path) -> None:
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    async with OpenAIServer([Turn(text=["Working", Wait("never")])]) as model:
        server = Server(tmp_path / "home", tmp_path / "project", model_config(model.base_url))
        async with running(server):
            turn = server.run("run", "--attach", server.url, "-p", PASSWORD, "Hi")
            assert turn.stdout is not None
            assert await asyncio.to_thread(turn.stdout.read, 7) == "Working"
            await asyncio.to_thread(server.kill)
            assert await asyncio.to_thread(turn.wait, 30) == 1
        assert "opencode-web: The connection" in server.log()


@pytest.mark.long
async def test_looking_leaves_no_trace(tmp_path: Path) -> None:
    """What lists opens no project; a turn alone does, and its server ends without a complaint."""
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    config = {"mcp": {"mine": {"type": "local", "command": ["nothing"]}}}
    (tmp_path / "project" / "opencode.json").write_text(json.dumps(config))
    server = Server(tmp_path / "home", tmp_path / "project")
    listed = await asyncio.to_thread(server.command, "mcp", "list")
    assert "mine is not used until you trust it" in listed.stdout
    for verb in (["models"], ["session", "list"], ["stats", "--project", ""]):
        assert (await asyncio.to_thread(server.command, *verb)).returncode == 0
    with closing(sqlite3.connect(server.data / "db.sqlite3")) as db:
        assert not db.execute("SELECT worktree FROM opencode_sessions_project").fetchall()
    assert (await asyncio.to_thread(server.command, "run", "--auto", "Hi")).returncode == 0
    [log] = (server.data / "log").iterdir()
    assert "Traceback" not in log.read_text()


async def test_a_command_that_is_not_there_keeps_nobody_waiting(tmp_path: Path) -> None:
    """The server that was started to look ends in order, not when its time is up."""
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    server = Server(tmp_path / "home", tmp_path / "project")
    done = await asyncio.to_thread(server.command, "run", "--command", "nope")
    assert (done.returncode, "no command 'nope'" in done.stderr) == (2, True)
    [log] = (server.data / "log").iterdir()
    for words in ("work still running", "cut short", "Traceback"):
        assert words not in log.read_text()


async def test_a_broken_configuration_is_said_by_every_verb(tmp_path: Path) -> None:
    """With file, line and what is wrong; the rest counts."""
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    server = Server(tmp_path / "home", tmp_path / "project")
    broken = tmp_path / "project" / "opencode.json"
    broken.write_text('{\n  "model": oops\n}\n')
    for verb in (["models"], ["session", "list"], ["stats"], ["agent", "list"], ["debug", "config"]):
        done = await asyncio.to_thread(server.command, *verb)
        assert done.returncode == 0, done.stderr
        assert done.stderr.count(f"opencode-web: {broken}:2") == 1, (verb, done.stderr)
    missing = str(tmp_path / "nowhere.json")
    done = await asyncio.to_thread(server.command, "models", environ={"OPENCODE_CONFIG": missing})
    assert missing in done.stderr


async def test_a_turn_in_a_mode_of_its_own(tmp_path: Path) -> None:
    assert get_args(Preset) == MODES
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    write = ToolUse("write", {"filePath": "made.txt", "content": "x\n"})
    script = [Turn(tools=[write]), Turn(tools=[write]), Turn(text="Done.")]  # a rejection ends a turn
    async with OpenAIServer(script) as model:
        config = model_config(model.base_url, permission={"edit": "ask"})
        server = Server(tmp_path / "home", tmp_path / "project", config)
        async with running(server) as client:
            done = await asyncio.to_thread(server.command, "run", "Write it.")
            assert done.returncode == 1
            assert "nobody was there to allow edit (made.txt)" in done.stderr
            assert not (tmp_path / "project/made.txt").exists(), "nobody is there to be asked"
            done = await asyncio.to_thread(server.command, "run", "--mode", "edits", "Write it.")
            assert done.returncode == 0, done.stderr
            assert (tmp_path / "project/made.txt").exists()
            assert [each.get("preset") for each in await client.sessions()] == ["edits", None]


async def test_what_is_not_loaded_is_named_before_the_turn(tmp_path: Path) -> None:
    for name in ("home", "project/.opencode/plugins"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "project/.opencode/plugins/guard.ts").touch()
    (tmp_path / "project/opencode.json").write_text(json.dumps({"plugin": ["opencode-wakatime"]}))
    environ = without_javascript(tmp_path / "programs")
    server = Server(tmp_path / "home", tmp_path / "project", environ=environ)
    for verb in (["debug", "config"], ["run", "--auto", "Hi"]):
        done = await asyncio.to_thread(server.command, *verb)
        assert done.returncode == 0
        named = [line for line in done.stderr.splitlines() if "is not loaded" in line]
        assert ["guard.ts" in named[1], "opencode-wakatime" in named[0], len(named)] == [True, True, 2]

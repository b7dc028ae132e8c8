"""What review mode does to permissions, commands, subagents and forks, and how it ends."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn
from tests.runtime.cast import Cast, cast, task
from tests.runtime.staging import Page, opened, outputs, write
from tests.server import PATIENCE, Server, model_config, running, serving, until


async def test_nothing_is_asked_but_what_is_denied_stays_denied(home: Path, project: Path) -> None:
    """Keep all leaves the agent's own settings: they take a yes of their own, by name."""
    script = [
        Turn(tools=[write("a.txt", "a\n"), write(".opencode/agents/x.md", "own\n"), write("no.txt", "no\n")]),
        Turn(text="Done."),
    ]
    rules = {"edit": {"*": "ask", "no.txt": "deny"}}
    async with serving(home, project, script, permission=rules) as (client, _):
        page = await opened(client)
        await client.prompt(page.id, "Write them.")
        assert await client.permissions() == []
        said = await outputs(client, page.id)
        assert ["Staged for review" in text for text in said] == [True, True, False]
        await page.post("staging/keep")
        assert (project / "a.txt").read_text() == "a\n"
        assert not (project / ".opencode/agents/x.md").exists()
        assert "own settings" in await page.refused("staging/keep")
        await page.post("staging/keep", file=".opencode/agents/x.md")
        assert (project / ".opencode/agents/x.md").read_text() == "own\n"


async def test_a_command_says_what_it_ran_without_and_asks_as_ever(home: Path, project: Path) -> None:
    shell = ToolUse("bash", {"command": "cat hello.py > .git/copied; cat hello.py"})
    script = [Turn(tools=[write("hello.py", "new\n")]), Turn(tools=[shell]), Turn(text="Done.")]
    rules = {"*": "allow", "edit": "ask"}
    async with serving(home, project, script, permission=rules) as (client, _), client.events() as events:
        page = await opened(client)
        await client.prompt_async(page.id, "Change it and run it.")
        asked = (await until(events, "permission.asked")).properties
        assert asked["patterns"] == [".git/copied"]  # which is written to the disk at once
        await client.reply(asked["id"], "once")
        await until(events, "session.idle")
        told = (await outputs(client, page.id))[1]
        assert told.splitlines()[0].startswith("[Review mode: this ran on the working tree")
        assert "hello.py" in told.splitlines()[0]
        assert "def hello" in told
        assert (project / "hello.py").read_text().startswith("def hello")


async def test_what_cannot_be_staged_is_refused(home: Path, project: Path) -> None:
    outside = home / "outside.txt"
    script = [
        Turn(tools=[write(str(outside), "x"), write(".git/hooks/post-commit", "x"), write("file", "x")]),
        Turn(tools=[write("file/below", "x")]),
        Turn(text="Done."),
    ]
    async with serving(home, project, script) as (client, _):
        page = await opened(client)
        await client.prompt(page.id, "Write them.")
        said = await outputs(client, page.id)
        assert "outside of the project" in said[0]
        assert "cannot be staged" in said[1]
        assert "Staged" in said[2]
        assert "a part of its path is a file" in said[3]
        assert not outside.exists()
        assert not (project / ".git/hooks/post-commit").exists()


async def test_a_subagent_stages_into_the_session_above_and_others_see_the_disk(
    home: Path, project: Path
) -> None:
    played = Cast(
        Parent=[
            Turn(tools=[task("Child", agent="worker")]),
            Turn(tools=[ToolUse("read", {"filePath": "hello.py"})]),
            Turn(text="Done."),
        ],
        Child=[Turn(tools=[write("hello.py", "staged\n")]), Turn(text="Written.")],
        Other=[Turn(tools=[ToolUse("read", {"filePath": "hello.py"})]), Turn(text="Read.")],
    )
    async with cast(home, project, played) as (client, _, _):
        page = await opened(client)
        await client.prompt(page.id, "Parent")
        assert "staged" in played.told("Parent", 2)
        assert "hello.py" in await page.listed()
        other = (await client.create_session("Other"))["id"]
        await client.prompt(other, "Other")
        assert "def hello" in played.told("Other", 1)
        before = (project / "hello.py").read_text()
        await page.post("staging/keep")
        assert (project / "hello.py").read_text() == "staged\n"
        prompt = (await client.messages(page.id))[0]["info"]["id"]
        await client.revert(page.id, prompt)
        assert (project / "hello.py").read_text() == before


async def test_turning_it_off_asks_what_becomes_of_what_waits(home: Path, project: Path) -> None:
    """Left staged, a file is edited where it waits, and other files are written at once."""
    script = [
        Turn(tools=[write("hello.py", "one\n")]),
        Turn(text="Staged."),
        Turn(tools=[write("hello.py", "two\n"), write("other.txt", "at once\n")]),
        Turn(text="Done."),
    ]
    async with serving(home, project, script) as (client, _):
        page = await opened(client)
        await client.prompt(page.id, "Write it.")
        assert "<dialog" in (await page.post("staging/mode", on="0")).text
        assert (await client.session(page.id))["staging"] is True
        assert "goes on waiting" in (await page.post("staging/mode", on="0", then="leave")).text
        assert "staging" not in await client.session(page.id)
        assert "1 file staged" in await page.shown()
        await client.prompt(page.id, "Go on.")
        assert (project / "other.txt").read_text() == "at once\n"
        assert (project / "hello.py").read_text().startswith("def")
        await page.post("staging/mode", on="1")
        assert "Kept 1 file" in (await page.post("staging/mode", on="0", then="keep")).text
        assert (project / "hello.py").read_text() == "two\n"
        assert (await page.post("staging/mode", on="1")).status_code == 204
        assert (await page.post("staging/mode", on="0")).status_code == 204


async def test_forks_and_restored_sessions_have_what_waits(home: Path, project: Path) -> None:
    script = [Turn(tools=[write("hello.py", "one\n")]), Turn(text="Staged.")]
    async with serving(home, project, script) as (client, _):
        page = await opened(client)
        await client.prompt(page.id, "Write it.")
        copy = Page(client, await client.post(f"/session/{page.id}/fork"))
        await page.post("delete")
        await page.post("restore")
        assert "hello.py" in await page.listed()
        await page.post("staging/drop")
        assert (await client.session(copy.id))["staging"] is True
        await copy.post("staging/keep")
        assert (project / "hello.py").read_text() == "one\n"
        assert [item["file"] for item in await client.get(f"/session/{copy.id}/diff")] == ["hello.py"]


@pytest.mark.parametrize("point", ["keep noted", "one file kept", "files kept"])
async def test_a_keep_that_a_crash_cut_short_is_finished(home: Path, project: Path, point: str) -> None:
    script = [Turn(tools=[write("hello.py", "one\n"), write("new.txt", "two\n")]), Turn(text="Staged.")]
    async with OpenAIServer(script) as model:
        server = Server(home, project, model_config(model.base_url))
        dying = replace(server, environ={"CRASH_AT": point}, module="tests.runtime.crashing")
        before = (project / "hello.py").read_text()
        await asyncio.to_thread(dying.start)
        async with dying.client() as client:
            page = await opened(client)
            await client.prompt(page.id, "Write them.")
            with pytest.raises(httpx.HTTPError):
                await page.post("staging/keep")
        assert dying.process is not None
        assert await asyncio.to_thread(dying.process.wait, PATIENCE) == -9, dying.log()
        assert (project / "hello.py").read_text() in (before, "one\n")
        async with running(server) as client:
            page = Page(client, await client.session(page.id))
            assert (project / "hello.py").read_text() == "one\n"
            assert (project / "new.txt").read_text() == "two\n"
            assert "Nothing waits" in await page.listed()
            prompt = (await client.messages(page.id))[0]["info"]["id"]
            await client.revert(page.id, prompt)
            assert (project / "hello.py").read_text() == before
            assert not (project / "new.txt").exists()

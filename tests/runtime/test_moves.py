"""A session moves to a worktree through the real server, and works on there."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import httpx
import pytest

from tests.loopback.script import ToolUse, Turn
from tests.runtime.cast import Cast, cast, task
from tests.server import serving


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@localhost", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def write(path: str, content: str) -> ToolUse:
    return ToolUse("write", {"filePath": path, "content": content})


async def test_turns_and_undo_go_on_in_the_worktree(home: Path, project: Path) -> None:
    script = [
        Turn(tools=[write("first.txt", "first\n")]),
        Turn(text="Done."),
        Turn(tools=[write("second.txt", "second\n")]),
        Turn(text="Done too."),
    ]
    async with serving(home, project, script) as (client, _):
        session = await client.create_session("named")
        await client.prompt(session["id"], "First.")
        shown = await client.get(f"/session/{session['id']}/move")
        assert shown["files"] == [{"file": "first.txt", "own": True, "staged": False}]
        moved = await client.post(f"/session/{session['id']}/move", {"name": "aside"})
        folder = Path(moved["session"]["directory"])
        assert (folder.name, moved["left"]) == ("aside", [])
        assert (folder / "first.txt").read_text() == "first\n"
        assert not (project / "first.txt").exists()
        await client.prompt(session["id"], "Second.")
        assert (folder / "second.txt").read_text() == "second\n"
        assert not (project / "second.txt").exists()
        first = (await client.messages(session["id"]))[0]["info"]["id"]
        await client.revert(session["id"], first)
        assert sorted(path.name for path in folder.iterdir()) == [".git", "hello.py"]
        await client.unrevert(session["id"])
        assert (folder / "first.txt").exists()
        page = await client.http.get(f"/p/{session['projectID']}/s/{session['id']}", follow_redirects=True)
        assert moved["session"]["projectID"] in str(page.url)
        (project / ".git" / "MERGE_HEAD").write_text(git(project, "rev-parse", "HEAD"))
        other = await client.create_session("other")
        with pytest.raises(httpx.HTTPStatusError, match="400"):
            await client.post(f"/session/{other['id']}/move")


async def test_what_a_subagent_changed_goes_along(home: Path, project: Path) -> None:
    played = Cast(
        Parent=[Turn(tools=[task("First", "worker")]), Turn(text="Seen.")],
        First=[Turn(tools=[write("below.txt", "x\n")]), Turn(text="ok")],
    )
    async with cast(home, project, played) as (client, _, _server):
        session = await client.create_session("named")
        await client.prompt(session["id"], "Parent")
        moved = (await client.post(f"/session/{session['id']}/move"))["session"]
        child = (await client.get(f"/session/{session['id']}/children"))[0]
        assert (child["projectID"], child["directory"]) == (moved["projectID"], moved["directory"])
        first = (await client.messages(session["id"]))[0]["info"]["id"]
        await client.revert(session["id"], first)
        assert not (Path(moved["directory"]) / "below.txt").exists()


async def test_by_the_command_line(home: Path, project: Path) -> None:
    script = [Turn(tools=[write("first.txt", "first\n")]), Turn(text="Done.")]
    async with cast(home, project, Cast(Go=script)) as (client, _, server):
        session = await client.create_session("named")
        await client.prompt(session["id"], "Go")
        (project / "mine.txt").write_text("mine\n")

        async def run(*options: str) -> subprocess.CompletedProcess[str]:
            return await asyncio.to_thread(server.command, "session", "move", session["id"], *options)

        dry = await run("--dry-run")
        assert [line.split() for line in dry.stdout.splitlines()] == [
            ["own", "first.txt"],
            ["others", "mine.txt"],
        ]
        assert (project / "first.txt").exists()
        done = await run("--worktree", "aside", "--own")
        assert (done.returncode, done.stderr) == (0, "")
        folder = Path((await client.session(session["id"]))["directory"])
        assert str(folder) in done.stdout
        assert ((folder / "first.txt").exists(), (folder / "mine.txt").exists()) == (True, False)
        again = await asyncio.to_thread(server.command, "session", "move", "ses_none", "--worktree")
        assert (again.returncode, "there is no session" in again.stderr) == (1, True)

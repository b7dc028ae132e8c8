"""A folder beside the project: tools read there by its name without asking, and none writes there."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx
import pytest

from agents.toolkit.sandbox import probe
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn
from tests.runtime.asking import stage
from tests.server import Server, model_config, parts_of, running

confined = pytest.mark.skipif(not probe.found().holds, reason=f"no sandbox: {probe.found().words}")
ASKING = {"*": "allow", "external_directory": "ask"}


@pytest.fixture
def library(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "library"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "greet.py").write_text("def greet():\n    return 'hello'\n")
    (folder / "AGENTS.md").write_text("Keep it small.\n")
    return folder


def bash(command: str, **more: str) -> ToolUse:
    return ToolUse("bash", {"command": command, "description": "Run", **more})


@pytest.mark.proc
async def test_tools_read_there_by_the_name_without_asking(home: Path, project: Path, library: Path) -> None:
    calls = [
        ToolUse("read", {"filePath": "library/src/greet.py"}),
        ToolUse("read", {"filePath": str(library / "src" / "greet.py")}),
        ToolUse("grep", {"pattern": "def greet", "path": "library"}),
        ToolUse("glob", {"pattern": "**/*.py", "path": "library"}),
        ToolUse("list", {"path": "library/src"}),
        bash("cat src/greet.py", workdir="library"),
    ]
    async with stage(home, project, [Turn(tools=calls), Turn(text="Done.")], permission=ASKING) as on:
        session = (await on.client.create_session())["id"]
        answer = await on.client.http.patch(f"/session/{session}", json={"folders": [str(library)]})
        assert answer.json()["folders"] == [{"name": "library", "path": str(library)}]
        await on.client.prompt(session, "Go.")
        states = [part["state"] for part in parts_of(await on.client.messages(session), "tool")]
        assert [state["status"] for state in states] == ["completed"] * len(calls)
        assert all("greet" in state["output"] for state in states)
        told = json.dumps(on.model.requests[-1].body)
        assert f"library: {library} (read-only)" in told
        assert "its own instructions are in AGENTS.md" in told


async def test_nothing_is_written_there_in_any_mode(home: Path, project: Path, library: Path) -> None:
    file = library / "src" / "greet.py"
    patch = "*** Begin Patch\n*** Add File: library/new.py\n+x\n*** End Patch"
    calls = [
        ToolUse("write", {"filePath": "library/new.py", "content": "x\n"}),
        ToolUse("edit", {"filePath": str(file), "oldString": "hello", "newString": "bye"}),
        ToolUse("apply_patch", {"patchText": patch}),
        bash(f"echo x > {library}/new.py"),
        bash("rm src/greet.py", workdir="library"),
    ]
    (project / "link").symlink_to(library)
    calls.append(ToolUse("write", {"filePath": "link/new.py", "content": "x\n"}))
    async with stage(home, project, [Turn(tools=calls), Turn(text="Done.")], permission={"*": "allow"}) as on:
        session = (await on.client.create_session())["id"]
        body = {"folders": [str(library)], "preset": "everything"}
        (await on.client.http.patch(f"/session/{session}", json=body)).raise_for_status()
        await on.client.prompt(session, "Go.")
        states = [part["state"] for part in parts_of(await on.client.messages(session), "tool")]
        assert [state["status"] for state in states] == ["error"] * len(calls), states
        assert all("added for reading only" in state["error"] for state in states), states
    assert "hello" in file.read_text()
    assert not (library / "new.py").exists()


async def test_a_command_that_may_write_there_asks_without_a_sandbox(
    home: Path, project: Path, library: Path
) -> None:
    script = [Turn(tools=[bash("./build", workdir="library")]), Turn(text="Done.")]
    async with stage(home, project, script, permission=ASKING) as on:
        session = (await on.client.create_session())["id"]
        await on.client.http.patch(f"/session/{session}", json={"folders": [str(library)]})
        await on.client.prompt_async(session, "Go.")
        assert (await on.asked())["permission"] == "external_directory"
        await on.client.abort(session)


@confined
async def test_the_sandbox_shows_it_and_keeps_it(home: Path, project: Path, library: Path) -> None:
    write = f"p={library}; python3 -c 'import sys; open(sys.argv[1], \"w\")' $p/new.py"
    script = [Turn(tools=[bash(f"cat {library}/src/greet.py"), bash(write)]), Turn(text="Done.")]
    more = {"sandbox": "offline", "sandbox_write": [str(library.parent)]}
    async with stage(home, project, script, permission=ASKING, **more) as on:
        session = (await on.client.create_session())["id"]
        await on.client.http.patch(f"/session/{session}", json={"folders": [str(library)]})
        await on.client.prompt(session, "Go.")
        read, written = (part["state"] for part in parts_of(await on.client.messages(session), "tool"))
        assert "return 'hello'" in read["output"]
        assert "Read-only file system" in written["output"]
    assert not (library / "new.py").exists()


async def test_what_is_configured_and_what_cannot_be_added(home: Path, project: Path, library: Path) -> None:
    script = [Turn(tools=[ToolUse("read", {"filePath": "library/src/greet.py"})]), Turn(text="Done.")]
    folders = [str(library), "/etc"]
    async with stage(home, project, script, permission=ASKING, folders=folders) as on:
        session = (await on.client.create_session())["id"]
        with pytest.raises(httpx.HTTPStatusError) as refused:
            await on.client.http.patch(f"/session/{session}", json={"folders": ["/etc"]})
        assert refused.value.response.status_code == 400
        assert "belongs to the system" in refused.value.response.text
        await on.client.prompt(session, "Go.")
        assert await on.statuses(session) == ["completed"]
        assert "- etc" not in json.dumps(on.model.requests[-1].body)


async def test_one_is_added_from_the_terminal(tmp_path: Path, library: Path) -> None:
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    async with OpenAIServer([Turn(text="Done.")]) as model:
        server = Server(tmp_path / "home", tmp_path / "project", model_config(model.base_url))
        async with running(server) as client:
            done = await asyncio.to_thread(server.command, "run", "--add-dir", "../library", "Look.")
            assert done.returncode == 0, done.stderr
            (session,) = await client.sessions()
            assert session["folders"] == [{"name": "library", "path": str(library)}]
            done = await asyncio.to_thread(server.command, "run", "--add-dir", "../none", "Look.")
            assert done.returncode
            assert "There is no folder" in done.stderr

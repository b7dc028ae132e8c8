"""Conversations between OpenCode itself and this program, both ways, by their own commands."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests import opencode
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn
from tests.protocol.conftest import repository
from tests.protocol.served import Served
from tests.server import ROOT, Server, model_config, running
from tests.sessions.transfer.making import snapshot

pytestmark = pytest.mark.asyncio(loop_scope="session")

PNG = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
OURS = [sys.executable, "-m", "opencode_web"]


async def said(command: list[str], environ: Mapping[str, str], folder: Path, status: int = 0) -> str:
    """The standard output of a command that ends with this status."""
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        env=dict(environ),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, error = await process.communicate()
    assert process.returncode == status, f"{command[1:]}: {error.decode()[-2000:]}"
    return out.decode()


class OpenCode:
    """OpenCode's program with a home and a project of its own."""

    def __init__(self, program: Path, base: Path, config: Mapping[str, Any] | None = None) -> None:
        base.mkdir()
        (base / "project").mkdir()
        self.home, self.project = base / "home", repository(base / "project")
        self._program = str(program)
        self._environ = opencode.environment(self.home, config=config)

    @property
    def data(self) -> Path:
        return self.home / ".local" / "share" / "opencode"

    async def runs(self, *arguments: str) -> str:
        return await said([self._program, *arguments], self._environ, self.project)

    async def undoes(self, session: str, message: str) -> None:
        """Go back to before a message, by its server."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        process = await asyncio.create_subprocess_exec(
            *(self._program, "serve", "--port", str(port), "--hostname", "127.0.0.1"),
            cwd=self.project,
            env=dict(self._environ),
            stdout=asyncio.subprocess.PIPE,
        )
        assert process.stdout is not None
        try:
            while b"listening" not in await process.stdout.readline():
                assert process.returncode is None
            url = f"http://127.0.0.1:{port}/session/{session}/revert?directory={self.project}"
            async with (
                aiohttp.ClientSession() as client,
                client.post(url, json={"messageID": message}) as answer,
            ):
                assert answer.status == 200, await answer.text()
        finally:
            process.terminate()
            await process.wait()

    async def exports(self, session: str) -> dict[str, Any]:
        exported: dict[str, Any] = json.loads(await self.runs("export", session))
        return exported


@pytest.mark.long
async def test_from_opencode_here_and_back(user_environ: dict[str, str], tmp_path: Path) -> None:
    program = opencode.program(user_environ)
    folder = tmp_path / "a" / "project"
    read = ToolUse("read", {"filePath": str(folder / "hello.py")})
    write = ToolUse("write", {"filePath": str(folder / "new.py"), "content": "x = 1\n"})
    turns = iter(
        [
            Turn(reasoning="Look first.", text="I look.", tools=(read,)),
            Turn(tools=(write,)),
            Turn(text="Written: **new.py**."),
        ]
    )
    async with OpenAIServer(lambda _: next(turns), title="A plan") as model:
        first = OpenCode(program, tmp_path / "a", model_config(model.base_url))
        await first.runs("run", "Look around and write new.py")
    before = snapshot(first.data)
    ours = Server(tmp_path / "ours", first.project).environment()
    summary = await said([*OURS, "import", str(first.data), "--yes"], ours, ROOT)
    assert "Sessions: 1 imported." in summary
    assert snapshot(first.data) == before
    assert "Sessions: 1 here already." in await said([*OURS, "import", str(first.data), "--yes"], ours, ROOT)
    (session,) = json.loads(await first.runs("session", "list", "--format", "json"))
    exported = tmp_path / "exported.json"
    await said([*OURS, "export", session["id"], "--output", str(exported)], ours, ROOT)
    second = OpenCode(program, tmp_path / "b")
    assert session["id"] in await second.runs("import", str(exported))
    original, returned = await first.exports(session["id"]), await second.exports(session["id"])
    assert returned["messages"] == original["messages"]
    assert len(original["messages"]) == 4
    for found in (original, returned):
        for place in ("projectID", "directory", "path"):  # OpenCode puts it into the folder it is run in
            found["info"].pop(place, None)
    assert returned["info"] == original["info"]
    (tmp_path / "again.json").write_text(json.dumps(await second.exports(session["id"])))
    assert "1 here already" in await said(
        [*OURS, "import", str(tmp_path / "again.json"), "--yes"], ours, ROOT
    )


@pytest.mark.long
async def test_what_is_undone_there_is_undone_here_and_goes_back(
    user_environ: dict[str, str], tmp_path: Path
) -> None:
    folder = tmp_path / "a" / "project"
    write = ToolUse("write", {"filePath": str(folder / "new.py"), "content": "x = 1\n"})
    turns = iter([Turn(text="Hello."), Turn(tools=(write,)), Turn(text="Written.")])
    async with OpenAIServer(lambda _: next(turns), title="A plan") as model:
        first = OpenCode(
            program := opencode.program(user_environ), tmp_path / "a", model_config(model.base_url)
        )
        await first.runs("run", "Say hello")
        await first.runs("run", "--continue", "Write new.py")
    (session,) = json.loads(await first.runs("session", "list", "--format", "json"))
    prompts = [
        entry["info"]["id"]
        for entry in (await first.exports(session["id"]))["messages"]
        if entry["info"]["role"] == "user"
    ]
    await first.undoes(session["id"], prompts[1])
    assert not (folder / "new.py").exists()
    server = Server(tmp_path / "ours", first.project)
    ours = server.environment()
    assert "1 imported" in await said([*OURS, "import", str(first.data), "--yes"], ours, ROOT)
    exported = tmp_path / "exported.json"
    await said([*OURS, "export", session["id"], "--output", str(exported)], ours, ROOT)
    original = (await first.exports(session["id"]))["info"]["revert"]
    assert original["messageID"] == prompts[1]
    assert json.loads(exported.read_text())["info"]["revert"] == original
    second = OpenCode(program, tmp_path / "b")
    await second.runs("import", str(exported))
    assert (await second.exports(session["id"]))["info"]["revert"] == original
    page = await said([*OURS, "export", session["id"], "--format", "markdown"], ours, ROOT)
    assert "Say hello" in page
    assert "Write new.py" not in page
    async with running(server) as client:
        await client.unrevert(session["id"])
    assert (folder / "new.py").read_text() == "x = 1\n"


@pytest.mark.long
async def test_what_opencode_changed_in_files_is_taken_back_here(
    user_environ: dict[str, str], tmp_path: Path
) -> None:
    """By its own snapshots, which are only read."""
    folder = tmp_path / "a" / "project"
    write = ToolUse("write", {"filePath": str(folder / "new.py"), "content": "x = 1\n"})
    command = {"command": "mv hello.py moved.py", "description": "Move"}
    turns = iter([Turn(tools=(write,)), Turn(tools=(ToolUse("bash", command),)), Turn(text="Done.")])
    async with OpenAIServer(lambda _: next(turns), title="A plan") as model:
        first = OpenCode(opencode.program(user_environ), tmp_path / "a", model_config(model.base_url))
        hello = (folder / "hello.py").read_text()
        await first.runs("run", "Write new.py and move hello.py")
    (session,) = json.loads(await first.runs("session", "list", "--format", "json"))
    messages = (await first.exports(session["id"]))["messages"]
    theirs = snapshot(first.data)
    ours = Server(tmp_path / "ours", first.project)
    async with running(ours) as client:
        await said([*OURS, "import", str(first.data), "--yes"], ours.environment(), ROOT)
        assert snapshot(first.data) == theirs
        await client.revert(session["id"], messages[0]["info"]["id"])
        assert {path.name: path.read_text() for path in folder.glob("*.py")} == {"hello.py": hello}
        await client.unrevert(session["id"])
        assert {path.name: path.read_text() for path in folder.glob("*.py")} == {
            "moved.py": hello,
            "new.py": "x = 1\n",
        }


@pytest.mark.long
async def test_a_conversation_of_ours_is_taken_by_opencode(
    served: Served, user_environ: dict[str, str], tmp_path: Path
) -> None:
    errand = {"description": "Look", "prompt": "Look around", "subagent_type": "general"}
    served.plays(
        Turn(reasoning="Hm.", text="I ask.", tools=(ToolUse("task", errand),)),
        Turn(text="There is hello.py."),
        Turn(tools=(ToolUse("bash", {"command": "exit 3", "description": "Fail"}), ToolUse("nonsense", {}))),
        Turn(text="Done."),
    )
    session = await served.session("From here")
    picture = {"type": "file", "mime": "image/png", "filename": "p.png", "url": PNG}
    parts = [{"type": "text", "text": "Look around"}, picture]
    await served.post(f"/session/{session}/message", {"parts": parts})
    exported = tmp_path / "exported.json"
    ours = served.server.environment()
    await said([*OURS, "export", session, "--output", str(exported)], ours, ROOT)
    theirs = OpenCode(opencode.program(user_environ), tmp_path / "a")
    await theirs.runs("import", str(exported))
    kept = {
        entry["info"]["id"]: [part["id"] for part in entry["parts"]]
        for entry in (await theirs.exports(session))["messages"]
    }
    mine = await served.get(f"/session/{session}/message")
    assert kept == {entry["info"]["id"]: [part["id"] for part in entry["parts"]] for entry in mine}
    assert len(mine) == 4
    fresh = Server(tmp_path / "fresh", theirs.project).environment()
    assert "2 imported" in await said([*OURS, "import", str(exported), "--yes"], fresh, ROOT)
    each = tmp_path / "each"
    each.mkdir()
    await said([*OURS, "export", session, "--output", str(each)], ours, ROOT)
    for file in sorted(each.iterdir(), key=lambda file: file.stem != session):
        await theirs.runs("import", str(file))
    (child,) = [file.stem for file in each.iterdir() if file.stem != session]
    assert (await theirs.exports(child))["info"]["parentID"] == session


async def test_a_session_that_is_at_work_is_exported_as_it_stands(served: Served, tmp_path: Path) -> None:
    session = await served.session("At work")
    served.plays(Turn(tools=(ToolUse("question", QUESTION),)), Turn(text="Done."))
    async with served.client.events() as events:
        await served.ask(
            "POST",
            f"/session/{session}/prompt_async",
            {"parts": [{"type": "text", "text": "Ask me"}]},
            status=204,
        )
        async for event in events:
            if event.type == "question.asked" and event.properties["sessionID"] == session:
                request = event.properties["id"]
                break
        ours = served.server.environment()
        page = await said([*OURS, "export", session, "--format", "html"], ours, ROOT)
        assert "The session was at work when this was written" in page
        whole = json.loads(await said([*OURS, "export", session], ours, ROOT))
        assert len(whole["messages"]) == 2
        await served.ask("POST", f"/question/{request}/reject", {})
        async for event in events:
            if event.type == "session.idle" and event.properties["sessionID"] == session:
                break


QUESTION = {
    "questions": [
        {"question": "Which?", "header": "Which", "options": [{"label": "A", "description": "a"}]},
    ]
}

"""What a tool of an MCP server does to the files of a project: seen, undone, and said in review mode."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.client import Client
from tests.loopback.script import ToolUse, Turn
from tests.programs import npm
from tests.runtime.servers import ready
from tests.runtime.staging import opened, outputs, write
from tests.server import serving


def filesystem(environ: Mapping[str, str], folder: Path) -> dict[str, Any]:
    program = npm("@modelcontextprotocol/server-filesystem", "mcp-server-filesystem", environ)
    server = {
        "type": "local",
        "command": [str(program), str(folder)],
        "environment": {"PATH": environ["PATH"]},
    }
    return {"mcp": {"files": server}}


async def test_changes_are_in_the_ledger_and_undone_and_review_mode_is_told(
    home: Path, project: Path, user_environ: Mapping[str, str]
) -> None:
    before = (project / "hello.py").read_text()
    file, new = str(project / "hello.py"), str(project / "new.txt")
    script = [
        Turn(
            tools=[
                ToolUse("files_write_file", {"path": file, "content": "other\n"}),
                ToolUse("files_write_file", {"path": new, "content": "new\n"}),
            ]
        ),
        Turn(text="Done."),
        Turn(tools=[write("hello.py", "staged\n")]),
        Turn(tools=[ToolUse("files_read_text_file", {"path": file})]),
        Turn(tools=[ToolUse("files_write_file", {"path": new, "content": "new\n"})]),
        Turn(text="Done."),
    ]
    async with serving(home, project, script, **filesystem(user_environ, project)) as (client, _):
        await ready(client, "files_write_file")
        session = await client.create_session(title="named")
        await client.prompt(session["id"], "Change them.")
        assert await _changed(client, session["id"]) == {"hello.py": "modified", "new.txt": "added"}
        page = f"/p/{session['projectID']}/s/{session['id']}"
        panel = (await client.http.get(f"{page}/review")).text
        assert "hello.py" in panel
        assert "new.txt" in panel
        await client.revert(session["id"], (await client.messages(session["id"]))[0]["info"]["id"])
        assert (project / "hello.py").read_text() == before
        assert not (project / "new.txt").exists()

        review = await opened(client)
        await client.prompt(review.id, "Change and look.")
        _, read, written = await outputs(client, review.id)
        for output in (read, written):
            assert output.startswith("[Review mode: this ran on the working tree, which does not have")
        assert before in read
        assert Path(new).read_text() == "new\n"  # at once, as by a command
        assert await _changed(client, review.id) == {"new.txt": "added"}


async def _changed(client: Client, session: str) -> dict[str, str]:
    message = (await client.messages(session))[0]["info"]["id"]
    return {diff["file"]: diff["status"] for diff in await client.diff(session, message)}

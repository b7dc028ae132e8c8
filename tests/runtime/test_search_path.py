"""PATH leads into the project: what an agent puts there is found by its commands, and run by nothing else."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Script, ToolUse, Turn
from tests.server import Server, model_config, parts_of, running


def bash(command: str) -> Turn:
    return Turn(tools=[ToolUse("bash", {"command": command, "description": "run it"})])


async def test_the_server_runs_no_program_of_the_project(home: Path, project: Path, tmp_path: Path) -> None:
    own, ran = project / ".venv" / "bin", tmp_path / "ran"
    own.mkdir(parents=True)
    (project / "git").write_text(f'#!/bin/sh\necho "$@" >> {ran}\nexec {shutil.which("git")} "$@"\n')
    (project / "git").chmod(0o755)
    put = "for name in git rg node bun gh; do cp git .venv/bin/$name; done; touch put"
    script: Script = [bash(put), bash("command -v git"), Turn(text="There it is.")]
    async with OpenAIServer(script) as model:
        environ = {"PATH": f"{own}:.:{os.environ['PATH']}"}
        server = Server(home, project, model_config(model.base_url), environ)
        async with running(server) as client:
            session = await client.create_session(title="named")
            answer = await client.prompt(session["id"], "Put it there.")
            _, found = parts_of(await client.messages(session["id"]), "tool")
            assert found["state"]["output"].strip() == str(own / "git")
            await client.get("/vcs")
            await client.get("/file/status")
            await client.get("/find", pattern="hello")
            assert (project / "put").exists()
            await client.revert(session["id"], answer["info"]["parentID"])
            assert not (project / "put").exists()
        assert not ran.exists(), ran.read_text()

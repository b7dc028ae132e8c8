"""What a shell completes the command line by: asked by a real bash."""

from __future__ import annotations

import asyncio
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from opencode_web.cli import main
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Turn
from tests.server import ROOT, Server, model_config, running

PROGRAM = """#!/bin/sh
PYTHONPATH={root} exec {python} -m opencode_web "$@"
"""
ASK = """
source <(opencode-web completion bash)
COMP_WORDS=({words})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
compopt() {{ local IFS=" "; echo "compopt $*"; }}
_opencode_web
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


class Shell:
    def __init__(self, server: Server, folder: Path) -> None:
        self._server = server
        self._path = folder / "bin"
        self._path.mkdir()
        program = self._path / "opencode-web"
        program.write_text(PROGRAM.format(root=shlex.quote(str(ROOT)), python=shlex.quote(sys.executable)))
        program.chmod(0o755)

    def complete(self, *words: str) -> list[str]:
        """The candidates for the last word."""
        environ = self._server.environment()
        environ["PATH"] = f"{self._path}:{environ['PATH']}"
        done = subprocess.run(
            ["bash", "--norc", "-c", ASK.format(words=shlex.join(["opencode-web", *words]))],
            cwd=self._server.project,
            env=environ,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr == ""
        return done.stdout.split("\n")[:-1]


async def test_a_real_bash_completes(tmp_path: Path) -> None:
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    async with OpenAIServer([Turn(text="Here.")]) as model:
        server = Server(tmp_path / "home", tmp_path / "project", model_config(model.base_url))
        shell = Shell(server, tmp_path)
        async with running(server) as client:
            session = (await client.create_session("A talk"))["id"]

            def complete(*words: str) -> list[str]:
                return shell.complete(*words)

            found = await asyncio.to_thread(complete, "se")
            assert found == ["serve", "service", "session"]
            assert await asyncio.to_thread(complete, "mcp", "lo") == ["logout"]
            assert "--print-logs" in await asyncio.to_thread(complete, "--pr")
            assert "--model" in await asyncio.to_thread(complete, "run", "--mo")
            assert await asyncio.to_thread(complete, "run", "--mode", "al") == ["alone"]
            assert "fake/fake" in await asyncio.to_thread(complete, "run", "-m", "fake")
            assert session in await asyncio.to_thread(complete, "export", "ses_")
            assert session in await asyncio.to_thread(complete, "run", "--session", "")
            assert await asyncio.to_thread(complete, "run", "-f", "") == ["compopt -o default", ""]
            assert await asyncio.to_thread(complete, "run", "--title", "x") == [""]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_script_is_one_of_its_shell(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "opencode-web completion --words" in script
    if program := shutil.which(shell):
        done = subprocess.run([program, "-n"], input=script, text=True, capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")

"""What the agent's commands learn of the server that runs them, and that it does not answer them."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import httpx
import pytest

from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Script, ToolUse, Turn
from tests.server import PASSWORD, PATIENCE, Server, model_config, parts_of, running

LOOK = """
pid=$PPID
while grep -q opencode_web /proc/$pid/cmdline; do
  tr '\\0' '\\n' < /proc/$pid/environ; tr '\\0' ' ' < /proc/$pid/cmdline
  pid=$(awk '/^PPid/{print $2}' /proc/$pid/status)
done
env
echo looked
"""
ASK = 'curl -s -w "%{http_code}" -u "opencode:$WORD" "$(cat url)/permission"; echo; echo asked'
CLEAN = f'exec env -i "$(command -v curl)" -s -w "%{{http_code}}" -u "opencode:{PASSWORD}" "$(cat url)/pty"'


def bash(command: str) -> Turn:
    return Turn(tools=[ToolUse("bash", {"command": command, "description": "look"})])


@pytest.mark.proc
async def test_commands_learn_no_password_and_are_not_answered(home: Path, project: Path) -> None:
    script: Script = [
        bash(LOOK),
        bash(f"WORD={PASSWORD!r}; {ASK}"),
        bash(CLEAN),
        Turn(text="Nothing."),
    ]
    async with OpenAIServer(script) as model:
        server = Server(home, project, model_config(model.base_url), anew=True)
        async with running(server) as client:
            (project / "url").write_text(server.url)
            session = await client.create_session(title="named")
            await client.prompt(session["id"], "Look around.")
            looked, asked, clean = (
                part["state"]["output"] for part in parts_of(await client.messages(session["id"]), "tool")
            )
            assert "looked" in looked
            assert "HOME=" in looked
            assert PASSWORD not in looked
            assert model.base_url not in looked  # the configuration that only this server was given
            assert "403" in asked
            assert "a command that the agent runs" in asked
            assert clean.rstrip().endswith("403")


async def test_a_terminal_of_the_user_and_a_new_connection_of_theirs_are_answered(
    home: Path, project: Path
) -> None:
    """While a command of the agent's runs in the background."""
    script: Script = [bash("setsid sleep 1000 >/dev/null 2>&1 & echo started"), Turn(text="Done.")]
    async with OpenAIServer(script) as model:
        server = Server(home, project, model_config(model.base_url))
        async with running(server) as client:
            session = await client.create_session(title="named")
            await client.prompt(session["id"], "Start it.")
            os.mkfifo(project / "status")
            ask = f"curl -s -o a -w '%{{http_code}}' -u 'opencode:{PASSWORD}' {server.url}/session > status"
            await client.http.post("/pty", json={"command": "sh", "args": ["-c", ask]})
            async with asyncio.timeout(PATIENCE):
                assert await asyncio.to_thread((project / "status").read_text) == "200"
            async with httpx.AsyncClient(auth=("opencode", PASSWORD), trust_env=False) as other:
                assert (await other.get(f"{server.url}/session")).status_code == 200

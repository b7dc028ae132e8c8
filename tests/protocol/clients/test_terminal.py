"""`opencode attach` and `opencode run --attach`, unmodified, against our server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests import opencode
from tests.loopback.script import ToolUse, Turn, Wait
from tests.protocol.clients.terminal import Terminal
from tests.protocol.served import Served
from tests.server import PASSWORD

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="session")]

SECONDS = 60


@pytest.fixture
def terminal(tmux_path: str, tmp_path: Path) -> Iterator[Terminal]:
    terminal = Terminal(tmux_path, tmp_path / "tmux")
    yield terminal
    terminal.stop()


@pytest_asyncio.fixture(loop_scope="session")
async def attached(
    terminal: Terminal, served: Served, user_environ: dict[str, str], tmp_path: Path
) -> AsyncIterator[Terminal]:
    """The terminal interface on its first screen."""
    program = opencode.program(user_environ)
    environ = opencode.environment(tmp_path / "client", PASSWORD)
    terminal.start([str(program), "attach", served.server.url], served.server.project, environ)
    await terminal.shows("Ask anything", "Fake")
    yield terminal


async def test_a_conversation_in_the_terminal(attached: Terminal, served: Served) -> None:
    touch = ToolUse("bash", {"command": "touch new.txt", "description": "Make a file"})
    served.plays(Turn(text=["It streams", Wait("streaming"), " to the end."]))
    attached.type("Stream something.")
    attached.press("Enter")
    await attached.shows("Stream something.", "It streams")
    served.model.gate("streaming").open()
    await attached.shows("It streams to the end.")

    served.plays(Turn(tools=[touch]), Turn(text="The file is there."))
    attached.type("Make a file.")
    attached.press("Enter")
    await attached.shows("Permission required", "touch new.txt")
    attached.press("Enter")
    await attached.shows("The file is there.")
    assert (served.server.project / "new.txt").exists()

    write = ToolUse("write", {"filePath": "written.txt", "content": "by the agent\n"})
    served.plays(Turn(tools=[write]), Turn(text="It is written."))
    attached.type("Write a file.")
    attached.press("Enter")
    await attached.shows("Wrote written.txt", "It is written.")

    attached.type("/undo")
    await attached.shows("Undo")
    attached.press("Enter")
    await attached.hides("It is written.")
    assert not (served.server.project / "written.txt").exists()
    attached.press("C-u")
    attached.type("/undo")
    await attached.shows("Undo")
    attached.press("Enter")
    await attached.hides("The file is there.")
    assert not (served.server.project / "new.txt").exists()


async def test_sessions_and_models_are_listed(attached: Terminal, served: Served) -> None:
    await served.session("An older conversation")
    attached.type("/sessions")
    await attached.shows("Switch session")
    attached.press("Enter")
    await attached.shows("An older conversation")
    attached.press("Escape")
    await attached.hides("An older conversation")
    attached.type("/models")
    await attached.shows("Switch model")
    attached.press("Enter")
    await attached.shows("Select model", "Fake")


async def test_one_prompt_from_the_command_line(
    served: Served, user_environ: dict[str, str], tmp_path: Path
) -> None:
    served.plays(Turn(text="Hello from here."))
    process = await asyncio.create_subprocess_exec(
        str(opencode.program(user_environ)),
        "run",
        "--attach",
        served.server.url,
        "Say hello.",
        cwd=served.server.project,
        env=opencode.environment(tmp_path / "client", PASSWORD),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), SECONDS)
    assert process.returncode == 0, err.decode()
    assert out.decode().strip() == "Hello from here."

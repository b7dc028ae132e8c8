"""The commands and examples of README and docs are run: none is in there that does not work."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Turn
from tests.server import ROOT, Server, model_config, running

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMAND = re.compile(
    r"^    ((?:\S+ .*\| )?(?:opencode-web|make|export|claude|opencode|python3|\.venv)\b.*)$", re.M
)
EXAMPLE = re.compile(r"^```jsonc?\n(.*?)^```", re.M | re.S)
ELSEWHERE = {
    "python3 -m venv .venv && .venv/bin/pip install .": "tests/packaging",
    ".venv/bin/opencode-web ~/code/thing": "tests/packaging",
    ".venv/bin/pip install '.[redis]'": "tests/packaging",
    "export REDIS_URL=redis://127.0.0.1:6379": "tests/opencode_web/cli/test_worker_process.py",
    "opencode-web serve --no-worker ~/code/thing": "tests/opencode_web/cli/test_worker_process.py",
    "opencode-web worker": "tests/opencode_web/cli/test_worker_process.py",
    "opencode attach http://127.0.0.1:4096": "tests/protocol",
    'opencode run --attach http://127.0.0.1:4096 "a prompt"': "tests/protocol",
    "opencode-web --cors http://127.0.0.1:5096": "tests/protocol",
    "opencode-web import": "tests/protocol/test_import.py",
}
"""What other tests run, with a server of its own, other people's programs or an installation; and where."""


def commands(page: Path) -> list[str]:
    """The lines of a page that are commands, without what is said of them."""
    return [re.sub(r"\s+#.*$", "", line).strip() for line in COMMAND.findall(page.read_text())]


async def test_every_command_of_the_readme(tmp_path: Path) -> None:
    for name in ("home", "project", "empty"):
        (tmp_path / name).mkdir()
    async with OpenAIServer(lambda _: Turn(text="It is a project.")) as model:
        server = Server(tmp_path / "home", tmp_path / "project", model_config(model.base_url))
        empty = Server(tmp_path / "empty", tmp_path / "project")
        async with running(server) as client:
            session = str((await client.create_session("A talk"))["id"])
            left = [line for line in commands(ROOT / "README.md") if line not in ELSEWHERE]
            for line in left:
                await asyncio.to_thread(tried, line, session, server, empty)
    assert len(left) > 10
    assert all((ROOT / place).exists() for place in ELSEWHERE.values())


def tried(line: str, session: str, server: Server, empty: Server) -> None:
    """Carry out one; raises AssertionError where it does not do what it is there for."""
    line = line.replace("SESSION", session).replace("~/backups", f"{server.home}/backups")
    if line.startswith("make"):  # as far as what it would do
        made = subprocess.run(
            [*shlex.split(line), "-n"], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert made.returncode == 0, (line, made.stderr)
        return
    piped, _, own = line.rpartition("opencode-web ")
    verbs = own.split(" | ")
    for verb in verbs:
        arguments = shlex.split(verb)
        if len(verbs) > 1 or line.startswith("claude"):  # a list of them, or for another program
            arguments = [arguments[0], "--help"]
        where = empty if arguments[0] == "restore" else server
        done = where.command(*arguments, stdin="a difference" if piped else "")
        assert done.returncode == 0, (line, done.stdout, done.stderr)
        assert done.stdout, line


@pytest.mark.parametrize(
    "page", [page for page in PAGES if EXAMPLE.search(page.read_text())], ids=lambda page: page.name
)
def test_every_example_of_a_configuration(page: Path, tmp_path: Path) -> None:
    for number, example in enumerate(EXAMPLE.findall(page.read_text())):
        home, project = tmp_path / f"home{number}", tmp_path / f"project{number}"
        home.mkdir()
        project.mkdir()
        if set(json.loads(re.sub(r"(?m)\s+//.*$", "", example))) & {"mcpServers", "servers", "agent_servers"}:
            continue  # for other people's programs
        folder = home / ".config" / "opencode"
        folder.mkdir(parents=True)
        (folder / "opencode.json").write_text(example)
        done = Server(home, project).command("debug", "config")
        assert (done.returncode, done.stderr) == (0, ""), example
        shutil.rmtree(home)

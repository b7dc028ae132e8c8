"""What a project asks for is looked at, trusted and withdrawn in a terminal, and named by the environment."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from sessions.core import variables
from sessions.core.platform.peers import MARK
from tests.server import Server
from tests.skill_site import skill_site

CONFIG = {"shell": "/bin/zsh", "mcp": {"x": {"type": "local", "command": ["sh", "\u001b[2J"]}}}
WAITS = "waits until you trust this file in the page, or by `opencode-web trust`"


@pytest.fixture
def server(tmp_path: Path) -> Server:
    """None runs: a home, and a project with a configuration and a plugin that wait."""
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    (project / ".git").mkdir(parents=True)
    (project / ".opencode" / "plugins").mkdir(parents=True)
    (project / ".opencode" / "plugins" / "guard.py").write_text("async def plugin(ctx):\n    return {}\n")
    (project / "opencode.json").write_text(json.dumps(CONFIG))
    return Server(home, project)


def shell(server: Server, **environ: str) -> str | None:
    """What is in force of the project's configuration."""
    done = server.command("debug", "config", environ=environ)
    assert done.returncode == 0, done.stderr
    found: str | None = json.loads(done.stdout).get("shell")
    return found


def test_what_waits_is_said_and_how_it_is_allowed(server: Server) -> None:
    said = [server.command(*verb).stderr for verb in (("debug", "config"), ("run", "Hi"))]
    server.start()
    server.stop()
    for text in (*said, server.log()):
        assert f"{server.project}/opencode.json: {WAITS}: shell, mcp.x" in text
        assert "guard.py: does not run until you trust it in the page, or by `opencode-web trust`" in text


def test_nothing_is_trusted_unseen_or_unasked(server: Server) -> None:
    done = server.command("trust")
    assert done.returncode == 2
    assert "nothing was trusted: nobody can be asked here, so add --yes" in done.stderr
    assert "mcp.x: Starts a program sh" in done.stdout
    assert "shell: Runs commands in this shell /bin/zsh" in done.stdout
    assert "guard.py: waits\n  Runs inside of this server" in done.stdout
    assert "\u001b" not in done.stdout
    assert shell(server) is None


def test_it_is_trusted_listed_and_withdrawn(server: Server, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    there = Server(server.home, tmp_path / "elsewhere")
    done = there.command("trust", str(server.project), "--yes")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("trusted: opencode.json, .opencode/plugins/guard.py\n")
    assert shell(server) == "/bin/zsh"
    assert server.command("debug", "config").stderr == ""
    assert server.command("trust").stdout == "nothing waits for your trust\n"

    listed = there.command("trust", "--list").stdout
    assert re.findall(r"^  [0-9a-f]{12}  (.*)$", listed, re.M) == [
        ".opencode/plugins/guard.py", "opencode.json",
    ]  # fmt: skip
    assert str(server.project) in listed

    assert server.command("trust", "--revoke").returncode == 0
    assert shell(server) is None
    assert there.command("trust", "--list").stdout == "nothing is trusted\n"


def test_where_nobody_is_the_environment_names_it_by_its_hash(server: Server) -> None:
    shown = server.command("trust", "--show").stdout
    assert "opencode.json: waits" in shown
    assert "  | async def plugin(ctx):\n  |     return {}" in shown
    assert shell(server) is None, "showing trusts nothing"

    (all_of_it,) = re.findall(rf"^{variables.TRUST.name}=(.*)$", shown, re.M)
    one, other = all_of_it.split(",")
    assert shell(server, **{variables.TRUST.name: f"{other}, {one}"}) == "/bin/zsh"
    assert server.command("debug", "config", environ={variables.TRUST.name: all_of_it}).stderr == ""
    assert shell(server, **{variables.TRUST.name: other}) is None
    assert shell(server) is None, "the environment keeps nothing"

    (server.project / "opencode.json").write_text(json.dumps({**CONFIG, "shell": "/bin/evil"}))
    assert shell(server, **{variables.TRUST.name: all_of_it}) is None


def test_a_command_of_the_agent_trusts_nothing(server: Server) -> None:
    done = server.command("trust", "--yes", environ={MARK: "this installation"})
    assert done.returncode == 1
    assert "a command of the agent trusts nothing" in done.stderr
    assert shell(server) is None


def test_skills_at_an_address_are_fetched_once_that_is_trusted(server: Server) -> None:
    def names() -> list[str]:
        return [skill["name"] for skill in json.loads(server.command("debug", "skill").stdout)]

    with skill_site() as site:
        (server.project / "opencode.json").write_text(json.dumps({"skills": {"urls": [site.url]}}))
        assert "greet" not in names()
        assert site.asked == []
        assert "skills: Takes skills from outside of the project" in server.command("trust", "--yes").stdout
        assert "greet" in names()
        assert len(site.asked) == 3

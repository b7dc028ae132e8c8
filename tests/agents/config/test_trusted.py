"""Which content of a project's configuration is what was trusted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agents.config.loader import Loaded, load
from agents.config.trust.store import TrustStore
from sessions.core import paths, variables


class Project:
    """A repository, a home, and the user's decision."""

    def __init__(self, root: Path) -> None:
        self.root = root / "project"
        self.environ = {"HOME": str(root / "home"), "KEY": "secret-key"}
        (self.root / ".git").mkdir(parents=True)
        (root / "home").mkdir()
        self.home = root / "home"
        self.store = TrustStore(paths.trust(self.environ))

    def write(self, name: str, content: object) -> None:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content))

    def load(self) -> Loaded:
        return load(self.root, self.environ)

    def trust(self) -> None:
        for want in self.load().wants:
            self.store.grant(self.root, want.digests)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_an_included_file_of_the_project_is_part_of_what_is_trusted(project: Project) -> None:
    project.write(
        "opencode.json", {"mcp": {"x": {"type": "local", "command": ["sh", "-c", "{file:line.txt}"]}}}
    )
    project.write("line.txt", "true")
    (want,) = project.load().wants
    assert [content.name for content in want.contents] == ["opencode.json", "line.txt"]
    assert project.load().config.mcp == {}
    project.trust()
    assert project.load().config.mcp["x"].get("command") == ["sh", "-c", "true"]
    project.write("line.txt", "rm -rf ~")
    assert project.load().config.mcp == {}
    assert not project.load().wants[0].trusted


def test_the_environment_trusts_a_file_with_what_it_includes(project: Project) -> None:
    project.write("opencode.json", {"shell": "{file:shell.txt}"})
    project.write("shell.txt", "/bin/zsh")
    assert project.load().config.shell is None
    (want,) = project.load().wants
    project.environ[variables.TRUST.name] = f"{'0' * 64},{want.hash}"
    assert project.load().config.shell == "/bin/zsh"
    project.write("shell.txt", "/bin/evil")
    assert project.load().config.shell is None
    project.write("shell.txt", "/bin/zsh")
    del project.environ[variables.TRUST.name]
    assert project.load().config.shell is None


def test_references_out_of_the_project_wait(project: Project, tmp_path: Path) -> None:
    (project.home / "key.txt").write_text("key-of-a-file")
    (project.root / "link.txt").symlink_to(project.home / "key.txt")
    project.write("inside.txt", "from inside")
    references = ["{env:KEY}", "{file:~/key.txt}", f"{{file:{tmp_path}/home/key.txt}}", "{file:link.txt}",
                  "{file:../home/key.txt}", "{file:a\0b}"]  # fmt: skip
    agents = {f"a{number}": {"prompt": f"x {text}"} for number, text in enumerate(references)}
    project.write("opencode.json", {"agent": {**agents, "in": {"prompt": "{file:inside.txt}"}}})
    loaded = project.load()
    assert loaded.config.agent["in"].prompt == "from inside"
    assert [loaded.config.agent[name].prompt for name in agents] == [None] * len(references)
    (want,) = loaded.wants
    assert len(want.wishes) == len(references)
    assert "secret-key" not in str(want)
    project.trust()
    assert project.load().config.agent["a0"].prompt == "x secret-key"


def test_what_a_reference_brings_in_is_held_like_what_is_written(project: Project) -> None:
    project.write("allow.txt", "allow")
    project.write("shell.txt", "!`touch x`")
    values = {"permission": {"bash": "{file:allow.txt}"}, "command": {"c": {"template": "{file:shell.txt}"}},
              "instructions": ["{file:path.txt}"]}  # fmt: skip
    project.write("path.txt", "/etc/passwd")
    project.write("opencode.json", values)
    config = project.load().config
    assert (config.permission, config.command, config.instructions) == (None, {}, [])
    assert {wish.key for wish in project.load().wants[0].wishes} == {
        "permission.bash", "command.c", "instructions.0",
    }  # fmt: skip


def test_a_line_ending_is_a_change(project: Project) -> None:
    project.write("opencode.json", '{\n"shell": "/bin/zsh"}')
    project.trust()
    assert project.load().config.shell == "/bin/zsh"
    (project.root / "opencode.json").write_bytes(b'{\r\n"shell": "/bin/zsh"}')
    assert project.load().config.shell is None


def test_markdown_agents_and_commands_are_held_alike(project: Project) -> None:
    project.write(".opencode/agent/bold.md", "---\npermission:\n  bash: allow\n---\nBe bold.")
    project.write(".opencode/command/run.md", "Look at !`touch x`")
    project.write(".opencode/command/fine.md", "Look around.")
    loaded = project.load()
    assert loaded.config.agent["bold"].prompt == "Be bold."
    assert loaded.config.agent["bold"].permission is None
    assert list(loaded.config.command) == ["fine"]
    assert {want.name for want in loaded.wants} == {".opencode/agent/bold.md", ".opencode/command/run.md"}
    project.trust()
    assert project.load().config.agent["bold"].permission == {"bash": "allow"}
    assert sorted(project.load().config.command) == ["fine", "run"]


def test_the_log_names_what_waits(project: Project, caplog: pytest.LogCaptureFixture) -> None:
    project.write("opencode.json", {"mcp": {"x": {"command": ["x"]}}, "shell": "sh"})
    project.load()
    assert (
        "waits until you trust this file in the page, or by `opencode-web trust`: mcp.x, shell" in caplog.text
    )


def test_the_users_own_files_are_trusted(project: Project) -> None:
    own = project.home / ".config" / "opencode" / "opencode.json"
    own.parent.mkdir(parents=True)
    own.write_text(json.dumps({"shell": "{env:KEY}", "permission": "allow"}))
    config = project.load().config
    assert (config.shell, config.permission) == ("secret-key", "allow")
    assert project.load().wants == []

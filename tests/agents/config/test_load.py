"""The configuration files: order, merging, substitution, and what a broken one costs."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from agents.config.check import PERMISSIONS
from agents.config.loader import Loaded, load
from agents.config.trust.store import TrustStore
from agents.tools.registry import BUILTIN
from sessions.core import paths


class Machine:
    """A home, a git repository with a nested folder, and an environment of its own."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.repository = root / "repository"
        self.nested = self.repository / "packages" / "web"
        self.nested.mkdir(parents=True)
        (self.repository / ".git").mkdir()
        self.environ = {"HOME": str(self.home)}

    def write(self, file: Path, content: dict[str, Any] | str) -> Path:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content))
        return file

    def write_global(self, content: dict[str, Any] | str, name: str = "opencode.json") -> Path:
        return self.write(self.home / ".config" / "opencode" / name, content)

    def load(self) -> Loaded:
        """With everything trusted that the repository asks for."""
        store = TrustStore(paths.trust(self.environ))
        for want in load(self.nested, self.environ).wants:
            if not want.trusted:
                store.grant(self.repository, want.digests)
        return load(self.nested, self.environ)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_the_older_autoshare_shares_where_nothing_else_is_said(machine: Machine) -> None:
    machine.write_global({"autoshare": True})
    loaded = machine.load()
    assert (loaded.config.share, loaded.problems) == ("auto", [])
    machine.write(machine.repository / "opencode.json", {"share": "manual"})
    assert machine.load().config.share == "manual"


def test_sources_are_merged_from_the_farthest_to_the_nearest(machine: Machine, tmp_path: Path) -> None:
    named = machine.write(tmp_path / "named.json", {"username": "named"})
    files = [
        machine.write_global({"username": "config"}, "config.json"),
        machine.write_global({"username": "global"}, "opencode.json"),
        machine.write_global('{"username": "globalc", /* c */}', "opencode.jsonc"),
        named,
        machine.write(machine.repository / "opencode.json", {"username": "root"}),
        machine.write(machine.nested / "opencode.jsonc", {"username": "nested"}),
        machine.write(machine.repository / ".opencode/opencode.json", {"username": "dot root"}),
        machine.write(machine.nested / ".opencode/opencode.json", {"username": "dot nested"}),
    ]
    machine.environ["OPENCODE_CONFIG"] = str(named)
    machine.environ["OPENCODE_CONFIG_CONTENT"] = '{"username": "content"}'

    loaded = machine.load()
    assert loaded.sources == [*files, Path("OPENCODE_CONFIG_CONTENT")]
    assert loaded.config.username == "content"
    del machine.environ["OPENCODE_CONFIG_CONTENT"]
    for file in reversed(files):
        assert (
            machine.load().config.username
            == json.loads(file.read_text().replace(", /* c */", ""))["username"]
        )
        file.unlink()
        machine.environ.pop("OPENCODE_CONFIG", None) if file == named else None
    assert machine.load().config.username is None


def test_a_persons_other_folders_come_after_the_project(machine: Machine, tmp_path: Path) -> None:
    machine.environ["OPENCODE_CONFIG_DIR"] = str(tmp_path / "named")
    files = [
        machine.write_global({"username": "global"}),
        machine.write(machine.nested / ".opencode/opencode.json", {"username": "project"}),
        machine.write(machine.home / ".opencode/opencode.jsonc", {"username": "home", "model": "a/home"}),
        machine.write(machine.home / ".opencode/agent/reader.md", "You read."),
        machine.write(tmp_path / "named/opencode.json", {"username": "named"}),
        machine.write(tmp_path / "named/commands/fix.md", "Fix."),
    ]
    loaded = load(machine.nested, machine.environ)
    assert loaded.sources == files
    assert (loaded.config.username, loaded.config.model) == ("named", "a/home"), "none takes trust"
    assert "reader" in loaded.config.agent
    assert "fix" in loaded.config.command
    assert load(None, machine.environ).config.username == "named"


def test_a_folder_of_ones_own_within_the_project_takes_trust(machine: Machine) -> None:
    machine.environ["OPENCODE_CONFIG_DIR"] = str(machine.repository / "ci")
    machine.write(machine.repository / "ci/opencode.json", {"shell": "/bin/zsh", "username": "named"})
    loaded = load(machine.nested, machine.environ)
    assert (loaded.config.username, loaded.config.shell) == ("named", None)
    assert machine.load().config.shell == "/bin/zsh"


def test_what_the_machine_says_comes_over_everybodys(machine: Machine, tmp_path: Path) -> None:
    machine.environ["OPENCODE_TEST_MANAGED_CONFIG_DIR"] = str(tmp_path / "etc")
    machine.environ["OPENCODE_CONFIG_CONTENT"] = '{"share": "auto"}'
    machine.write(tmp_path / "etc/opencode.json", {"share": "disabled", "permission": {"bash": "deny"}})
    machine.write(machine.repository / "opencode.json", {"permission": {"bash": "allow"}})
    config = machine.load().config
    assert (config.share, config.permission) == ("disabled", {"bash": "deny"})


def test_variables_come_over_every_file(machine: Machine) -> None:
    machine.write_global({"permission": {"bash": "deny", "edit": "ask"}, "compaction": {"reserved": 5}})
    machine.environ |= {
        "OPENCODE_PERMISSION": '{"bash": {"ls": "allow"}}',
        "OPENCODE_DISABLE_AUTOCOMPACT": "1",
        "OPENCODE_DISABLE_PRUNE": "true",
    }
    config = machine.load().config
    assert config.permission == {"bash": {"*": "deny", "ls": "allow"}, "edit": "ask"}
    assert (config.compaction.auto, config.compaction.prune, config.compaction.reserved) == (False, False, 5)
    machine.environ["OPENCODE_DISABLE_PRUNE"] = "0"
    assert machine.load().config.compaction.prune


def test_rules_of_the_environment_that_cannot_be_read_are_asked_about(machine: Machine) -> None:
    machine.environ["OPENCODE_PERMISSION"] = '{"bash": '
    loaded = machine.load()
    assert loaded.unreadable
    assert str(loaded.problems[0]).startswith("OPENCODE_PERMISSION:1: ")


def test_a_folder_outside_of_git_does_not_read_the_folders_above(tmp_path: Path) -> None:
    inner = tmp_path / "anybody" / "mine"
    inner.mkdir(parents=True)
    (inner.parent / "opencode.json").write_text('{"username": "stranger"}')
    assert load(inner, {"HOME": str(tmp_path)}).config.username is None


def test_project_files_can_be_switched_off_and_are_not_the_users_own(machine: Machine) -> None:
    machine.write_global({"model": "a/global"})
    machine.write(machine.repository / "opencode.json", {"model": "a/project"})
    assert machine.load().config.model == "a/project"
    assert load(None, machine.environ).config.model == "a/global"
    machine.environ["OPENCODE_DISABLE_PROJECT_CONFIG"] = "1"
    assert machine.load().config.model == "a/global"


def test_objects_merge_deeply_and_instructions_add_up(machine: Machine) -> None:
    machine.write_global({"agent": {"build": {"model": "a/b", "steps": 5}}, "instructions": ["1.md", "2.md"]})
    machine.write(
        machine.repository / "opencode.json",
        {
            "agent": {"build": {"steps": 9}, "mine": {"mode": "primary"}},
            "instructions": ["2.md", "3.md"],
        },
    )
    config = machine.load().config
    assert (config.agent["build"].model, config.agent["build"].steps) == ("a/b", 9)
    assert config.agent["mine"].mode == "primary"
    assert config.instructions == ["1.md", "2.md", "3.md"]


def test_a_nearer_allowance_does_not_lift_a_farther_general_denial(machine: Machine) -> None:
    machine.write_global({"permission": {"bash": "deny"}})
    machine.write(machine.repository / "opencode.json", {"permission": {"bash": {"git status": "allow"}}})
    assert machine.load().config.permission == {"bash": {"*": "deny", "git status": "allow"}}


def test_references_are_replaced_inside_strings_only(machine: Machine) -> None:
    machine.write(machine.home / "key.txt", "from home\n")
    machine.write(machine.repository / "local.txt", "{env:NEVER_EXPANDED}")
    machine.environ["HOSTILE"] = '", "snapshot": false, "x": "'
    machine.write(
        machine.repository / "opencode.json",
        {
            "username": "{env:HOSTILE}",
            "provider": {
                "p": {"options": {"apiKey": "{file:~/key.txt}", "baseURL": "http://{env:UNSET}/v1"}}
            },
            "agent": {"a": {"prompt": "{file:./local.txt}"}},
        },
    )
    config = machine.load().config
    assert config.username == machine.environ["HOSTILE"]
    assert config.snapshot is True
    assert config.provider["p"].get("options") == {"apiKey": "from home", "baseURL": "http:///v1"}
    assert config.agent["a"].prompt == "{env:NEVER_EXPANDED}"


def test_a_missing_included_file_costs_its_key_and_is_named(machine: Machine) -> None:
    file = machine.write(
        machine.repository / "opencode.jsonc",
        '{\n  "model": "a/b",\n  "agent": {\n    "x": {"prompt": "{file:gone.md}", "steps": 2}\n  }\n}',
    )
    loaded = machine.load()
    assert loaded.config.model == "a/b"
    assert (loaded.config.agent["x"].prompt, loaded.config.agent["x"].steps) == (None, 2)
    [problem] = loaded.problems
    assert (problem.file, problem.line, problem.key) == (file, 4, "agent.x.prompt")
    assert str(machine.repository / "gone.md") in problem.message


def test_a_variable_that_is_no_text_costs_its_key_and_is_named(machine: Machine) -> None:
    machine.environ["BYTES"] = os.fsdecode(b"\xff")
    machine.write(machine.repository / "opencode.json", {"username": "{env:BYTES}", "model": "a/b"})
    loaded = machine.load()
    assert (loaded.config.model, loaded.config.username) == ("a/b", None)
    assert [problem.key for problem in loaded.problems] == ["username"]


def test_a_malformed_file_is_named_with_its_line_and_the_others_count(machine: Machine) -> None:
    machine.write_global({"model": "a/b"})
    file = machine.write(machine.repository / "opencode.json", '{\n  "snapshot": false\n  "share": "auto"\n}')
    loaded = machine.load()
    assert loaded.config.model == "a/b"
    assert loaded.config.snapshot is True
    [problem] = loaded.problems
    assert (problem.file, problem.line, problem.level) == (file, 3, "error")
    assert "','" in problem.message


def test_wrong_values_cost_only_themselves(machine: Machine) -> None:
    machine.write(
        machine.repository / "opencode.jsonc",
        """{
  "model": "a/b",
  "snapshot": "perhaps", // line 3
  "agent": {"x": {"mode": "boss", "steps": 3}},
  "provider": {
    "p": {"npm": "@ai-sdk/openai", "options": {"timeout": "soon", "apiKey": "k"}, "whitelist": ["a", 1]}
  },
  "command": {"c": {"description": "no template"}, "d": {"template": "t"}},
}""",
    )
    loaded = machine.load()
    assert {(p.line, p.key) for p in loaded.problems} == {
        (3, "snapshot"),
        (4, "agent.x.mode"),
        (6, "provider.p.options.timeout"),
        (6, "provider.p.whitelist"),
        (8, "command.c"),
    }
    config = loaded.config
    assert (config.model, config.snapshot, config.agent["x"].steps) == ("a/b", True, 3)
    assert config.provider["p"] == {"npm": "@ai-sdk/openai", "options": {"apiKey": "k"}}
    assert list(config.command) == ["d"]


def test_a_misspelt_denial_asks_instead_of_allowing(machine: Machine) -> None:
    machine.write_global(
        {
            "permission": {"bash": {"rm *": "dney"}, "edit": "never"},
            "agent": {"a": {"tools": {"bash": "off?"}}},
        },
    )
    loaded = machine.load()
    assert loaded.config.permission == {"bash": {"rm *": "ask"}, "edit": "ask"}
    assert loaded.config.agent["a"].tools == {"bash": False}
    assert {p.key for p in loaded.problems} == {
        "permission.bash.rm *",
        "permission.edit",
        "agent.a.tools.bash",
    }


def test_unknown_keys_are_kept_with_one_warning(machine: Machine) -> None:
    machine.write(
        machine.repository / "opencode.json",
        '{"$schema": "s",\n"layout": {"a": "b"},\n"server": {"mdns": true},\n'
        '"agent": {"a": {"reasoningEffort": "high"}}}',
    )
    loaded = machine.load()
    [problem] = loaded.problems
    assert (problem.level, problem.line) == ("warning", 2)
    assert "layout, server.mdns" in problem.message
    assert (loaded.config.model_extra or {})["layout"] == {"a": "b"}
    assert loaded.config.agent["a"].model_options == {"reasoningEffort": "high"}


def test_a_key_that_forbids_nothing_as_it_is_misspelt_is_an_error_by_name(machine: Machine) -> None:
    machine.write_global(
        {
            "sandbox_domain": {"*": "deny"},
            "permissions": "ask",
            "permission": {
                "bsh": "deny",
                "write": "deny",
                "net_work": "ask",
                "bash": "ask",
                "web_search_x": "ask",
            },
            "mcp": {"web": {"type": "local", "command": ["web"]}},
            "agent": {"a": {"sandbx": "off", "permission": {"webfetsh": "deny"}, "temprature": 1}},
        }
    )
    found = {problem.key: problem for problem in machine.load().problems}
    assert {problem.level for problem in found.values()} == {"error"}
    assert {key: problem.message.rpartition(" ")[2] for key, problem in found.items()} == {
        "sandbox_domain": "'sandbox_domains'?",
        "permissions": "'permission'?",
        "permission.bsh": "'bash'?",
        "permission.write": "'edit'?",
        "permission.net_work": "'network'?",
        "agent.a.sandbx": "'sandbox'?",
        "agent.a.permission.webfetsh": "'webfetch'?",
    }


def test_the_check_knows_the_permission_of_every_tool() -> None:
    assert {tool.permission for tool in BUILTIN} - {"invalid"} <= PERMISSIONS


def test_unchanged_files_are_not_read_again_and_changed_ones_are(machine: Machine) -> None:
    machine.write(machine.repository / "prompt.md", "one")
    file = machine.write(
        machine.repository / "opencode.json",
        {"agent": {"a": {"prompt": "{file:prompt.md}", "description": "{env:WHO}"}}},
    )
    first = machine.load()
    assert machine.load() is first

    machine.write(machine.repository / "prompt.md", "two and more")
    assert machine.load().config.agent["a"].prompt == "two and more"
    machine.environ["WHO"] = "me"
    assert machine.load().config.agent["a"].description == "me"
    machine.write(machine.nested / "opencode.json", {"username": "new file"})
    assert machine.load().config.username == "new file"
    os.utime(file, ns=(1, 1))
    assert machine.load() is not first


def test_folders_that_come_and_go_are_seen_and_where_variables_lead(machine: Machine, tmp_path: Path) -> None:
    """What is in a folder that is missing is not looked for one by one."""
    before = machine.load()
    agent = machine.write(machine.nested / ".opencode" / "agents" / "deep" / "a.md", "Do it.")
    assert machine.load().config.agent["deep/a"].prompt == "Do it."
    shutil.rmtree(machine.nested / ".opencode")
    assert machine.load().config == before.config
    machine.write(agent, "Do it again.")
    assert machine.load().config.agent["deep/a"].prompt == "Do it again."

    machine.environ["OPENCODE_CONFIG_DIR"] = str(tmp_path / "more")
    assert machine.load().config.username is None
    machine.write(tmp_path / "more" / "opencode.json", {"username": "me"})
    assert machine.load().config.username == "me"
    (machine.repository / ".git").rmdir()
    machine.write(machine.repository / "opencode.json", {"username": "above"})
    (tmp_path / "more" / "opencode.json").unlink()
    assert machine.load().config.username is None, "it is in no repository any more"
    (machine.repository / ".git").mkdir()
    assert machine.load().config.username == "above"


def test_a_folder_in_place_of_a_projects_file_is_none(machine: Machine) -> None:
    """One stands there while a confined program runs."""
    (machine.repository / "opencode.json").mkdir()
    assert machine.load().problems == []
    (machine.repository / "opencode.json").rmdir()
    machine.write(machine.repository / "opencode.json", {"username": "me"})
    assert machine.load().config.username == "me"


def test_the_file_named_by_the_environment_must_exist(machine: Machine) -> None:
    machine.environ["OPENCODE_CONFIG"] = "~/nowhere.json"
    [problem] = machine.load().problems
    assert problem.file == machine.home / "nowhere.json"


@pytest.mark.parametrize("content", [b"\xff\xfe{", b"[1]", b"", b"[" * 5000])
def test_no_content_of_a_file_raises(machine: Machine, content: bytes) -> None:
    (machine.repository / "opencode.json").write_bytes(content)
    loaded = machine.load()
    assert [p.file.name for p in loaded.problems] == ["opencode.json"]
    assert loaded.config.snapshot is True

"""Agents and commands in Markdown files: where they are found, how they merge, what a broken one costs."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.config.folders import MAX_FILES
from agents.config.frontmatter import MAX_FRONTMATTER
from agents.config.loader import Loaded, load
from agents.config.schema import Config


class Machine:
    """A home and a git repository with a nested folder, of which the home is the user's own."""

    def __init__(self, root: Path) -> None:
        self.repository = root / "repository"
        self.nested = self.repository / "web"
        self.nested.mkdir(parents=True)
        (self.repository / ".git").mkdir()
        self.own = root / "home" / ".config" / "opencode"
        self.environ = {"HOME": str(root / "home")}

    def write(self, file: Path, content: str | bytes) -> Path:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def load(self) -> Loaded:
        return load(self.nested, self.environ)

    @property
    def config(self) -> Config:
        return self.load().config


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_files_of_every_folder_are_entries_by_their_path(machine: Machine) -> None:
    machine.write(machine.own / "agents/a.md", "---\nmode: subagent\n---\nI am A.\n")
    machine.write(machine.repository / ".opencode/agent/team/b.md", "I am B.")
    machine.write(machine.nested / ".opencode/agents/c.md", "\ufeff---\r\nsteps: 3\r\n---\r\nI am C.\r\n")
    machine.write(machine.own / "command/go.md", "---\ndescription: Go\nsubtask: true\n---\nGo to $1.")
    machine.write(machine.nested / ".opencode/commands/deep/er.md", "Deeper.")
    loaded = machine.load()
    assert loaded.problems == []
    agents, commands = loaded.config.agent, loaded.config.command
    assert {name: agent.prompt for name, agent in agents.items()} == {
        "a": "I am A.",
        "team/b": "I am B.",
        "c": "I am C.",
    }
    assert (agents["a"].mode, agents["c"].steps) == ("subagent", 3)
    assert {name: command.template for name, command in commands.items()} == {
        "go": "Go to $1.",
        "deep/er": "Deeper.",
    }
    assert (commands["go"].description, commands["go"].subtask) == ("Go", True)


def test_the_nearest_wins_key_by_key_also_over_json(machine: Machine) -> None:
    machine.write(machine.own / "agents/a.md", "---\nmodel: x/far\nsteps: 1\ncolor: info\n---\nFar.")
    machine.write(machine.repository / "opencode.json", '{"agent": {"a": {"steps": 2}}}')
    machine.write(machine.repository / ".opencode/opencode.json", '{"agent": {"a": {"description": "json"}}}')
    machine.write(machine.nested / ".opencode/agents/a.md", "---\nmodel: x/near\n---\n")
    agent = machine.config.agent["a"]
    assert (agent.model, agent.steps, agent.color) == ("x/near", 2, "info")
    assert (agent.description, agent.prompt) == ("json", "Far.")


def test_unknown_keys_of_an_agent_are_options_and_its_text_stays_as_it_is(machine: Machine) -> None:
    front = "name: other\nreasoningEffort: high\nsince: 2024-01-02\noptions:\n  topK: 5"
    machine.write(machine.own / "agents/a.md", f"---\n{front}\n---\nSay {{env:HOME}} and {{file:gone}}.")
    agent = machine.config.agent["a"]
    assert agent.model_options == {"reasoningEffort": "high", "since": "2024-01-02", "topK": 5}
    assert agent.prompt == "Say {env:HOME} and {file:gone}."


BOMB = "a: &a [x, x]\n" + "".join(f"k{n}: &k{n} [*{'a' if n == 0 else f'k{n - 1}'}, *a]\n" for n in range(30))


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        ("---\nmode: primary\ncolor: [\n---\nx", 4, "expected"),
        ("---\n- a\n---\nx", 2, "keys and values"),
        ("---\nmode: primary\n", 1, "ends the frontmatter"),
        ("---\nsteps: 2\nmode: boss\n---\nx", 3, "primary"),
        ("---\ncolor: url(x)\n---\nx", 2, "pattern"),
        ("---\n? [a]\n: b\n---\nx", 2, "key has to be a text"),
        ("---\nx: .nan\n---\n", 2, "kind"),
        (f"---\nx: {'1' * 5000}\n---\n", 2, "kind"),
        ("---\nx: !!python/object/apply:os.system [ls]\n---\n", 2, "kind"),
        ("---\nx: !!binary aGk=\n---\n", 2, "kind"),
        ("---\na: &a [*a]\n---\n", 2, "aliases"),
        (f"---\n{BOMB}---\n", 2, "aliases"),
        (f"---\nx: {'[' * 5000}\n---\n", 2, "deeply"),
        (f"---\nx: {'y' * MAX_FRONTMATTER}\n---\n", 1, "KiB"),
        ("---\nx: \x00\n---\n", 2, "character"),
        (b"---\nx: \xff\n---\n", None, "UTF-8"),
        ("x" * (1024 * 1024 + 1), None, "1 MiB"),
        ('---\ndescription: "{file:bad.md}"\n---\nx', 2, "includes itself"),
    ],
)
def test_a_broken_file_is_named_with_its_line_and_the_others_count(
    machine: Machine, content: str | bytes, line: int | None, words: str
) -> None:
    machine.write(machine.own / "agents/good.md", "Good.")
    bad = machine.write(machine.own / "agents/bad.md", content)
    loaded = machine.load()
    assert [(problem.file, problem.line, problem.level) for problem in loaded.problems] == [
        (bad, line, "error")
    ]
    assert words in str(loaded.problems[0])
    assert loaded.config.agent["good"].prompt == "Good."


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("description: Use this: when it's needed", "Use this: when it's needed"),
        ("description: Examples: <x>a: b</x> # all", "Examples: <x>a: b</x> # all"),
        ("description: @mentions first", "@mentions first"),
        ("description: *all* of it", "*all* of it"),
        ("description: 100: %s", "100: %s"),
        ("description: %s", "%s"),
        ("description: `make` it", "`make` it"),
        ("description:\tGo", "Go"),
        ("description: 'tis open", "'tis open"),
        ('description: "Go" and come', '"Go" and come'),
        ("description: - a", "- a"),
    ],
)
@pytest.mark.parametrize("section", ["agents", "commands"])
def test_a_text_without_quotes_is_taken_as_it_was_meant(
    machine: Machine, section: str, line: str, meant: str
) -> None:
    front = f"model: a/b:free\n{line}\nvariant: high"
    file = machine.write(machine.own / section / "a.md", f"---\n{front}\n---\nText.")
    loaded = machine.load()
    kind = section.removesuffix("s")
    entry = getattr(loaded.config, kind)["a"]
    assert (entry.description, entry.model, entry.variant) == (meant, "a/b:free", "high")
    (problem,) = loaded.problems
    assert (problem.file, problem.line, problem.level) == (file, 3, "warning")
    assert problem.key == f"{kind}.a.description"


def test_a_file_that_is_mended_keeps_the_rest_as_it_is(machine: Machine) -> None:
    front = 'description: a: b\npermission:\n  bash: ask\nprompt: "two\n  lines: here"\nsteps:\t3'
    machine.write(machine.own / "agents/a.md", f"---\n{front}\n---\n")
    agent = machine.config.agent["a"]
    assert (agent.permission, agent.prompt, agent.steps) == ({"bash": "ask"}, "two lines: here", 3)


def test_a_file_that_includes_itself_in_a_circle_is_named(machine: Machine) -> None:
    file = machine.write(
        machine.own / "opencode.json", '{"username": "{file:opencode.json}", "model": "a/b"}'
    )
    round_about = machine.write(machine.own / "agents/a.md", '---\ndescription: "{file:b.txt}"\n---\nx')
    machine.write(machine.own / "agents/b.txt", "see {file:a.md}")
    loaded = machine.load()
    assert [(problem.file, problem.key) for problem in loaded.problems] == [
        (file, "username"),
        (round_about, "agent.a.description"),
    ]
    assert (loaded.config.model, loaded.config.agent["a"].prompt) == ("a/b", "x")


def test_links_that_lead_into_themselves_are_named(machine: Machine) -> None:
    machine.write(machine.own / "agents/good.md", "Good.")
    (machine.own / "agents/loop").symlink_to(machine.own / "agents")
    (machine.own / "agents/self.md").symlink_to("self.md")
    loaded = machine.load()
    assert {problem.file.name for problem in loaded.problems} == {"loop", "self.md"}
    assert list(loaded.config.agent) == ["good"]


def test_too_many_files_are_not_all_read(machine: Machine) -> None:
    for number in range(MAX_FILES + 5):
        machine.write(machine.own / f"agents/a{number:05}.md", "x")
    loaded = machine.load()
    assert len(loaded.config.agent) == MAX_FILES
    assert "too much" in loaded.problems[0].message


def test_new_and_changed_files_are_seen_and_unchanged_ones_not_read_again(machine: Machine) -> None:
    assert machine.config.agent == {}
    file = machine.write(machine.repository / ".opencode/agents/a.md", "One.")
    first = machine.load()
    assert first.config.agent["a"].prompt == "One."
    assert machine.load() is first
    machine.write(file, "Two, longer.")
    assert machine.config.agent["a"].prompt == "Two, longer."
    machine.write(machine.repository / ".opencode/agents/team/b.md", "B.")
    assert list(machine.config.agent) == ["a", "team/b"]
    machine.write(machine.repository / ".opencode/agents/team/c.md", "C.")
    assert list(machine.config.agent) == ["a", "team/b", "team/c"]
    file.unlink()
    assert "a" not in machine.config.agent


def test_the_older_modes_are_primary_agents_under_those_of_the_same_name(machine: Machine) -> None:
    text = (
        '{"mode": {"ask": {"prompt": "Ask.", "tools": {"write": false},\n"steps": "x"}},\n'
        '"agent": {"ask": {"prompt": "New."}}}'
    )
    machine.write(machine.own / "opencode.json", text)
    loaded = machine.load()
    agent = loaded.config.agent["ask"]
    assert (agent.mode, agent.prompt, agent.tools) == ("primary", "New.", {"write": False})
    assert [(problem.line, problem.key) for problem in loaded.problems] == [(2, "agent.ask.steps")]


def test_files_of_the_older_modes_are_primary_agents(machine: Machine) -> None:
    machine.write(machine.own / "agents/both.md", "---\nsteps: 2\nmode: subagent\n---\nAgent.")
    machine.write(machine.own / "modes/both.md", "---\ndescription: As: a mode\n---\nMode.")
    machine.write(machine.nested / ".opencode/mode/ask.md", "---\nmode: subagent\nsteps: x\n---\nAsk.")
    machine.write(machine.nested / ".opencode/mode/below/none.md", "None.")
    loaded = machine.load()
    agents = loaded.config.agent
    assert {name: (agent.mode, agent.prompt, agent.steps) for name, agent in agents.items()} == {
        "both": ("primary", "Mode.", 2), "ask": ("primary", "Ask.", None),
    }  # fmt: skip
    assert [(one.line, one.key) for one in loaded.problems] == [
        (2, "mode.both.description"), (3, "agent.ask.steps"),
    ]  # fmt: skip


def test_project_files_can_be_switched_off(machine: Machine) -> None:
    machine.write(machine.repository / ".opencode/agents/a.md", "One.")
    machine.environ["OPENCODE_DISABLE_PROJECT_CONFIG"] = "1"
    assert machine.config.agent == {}

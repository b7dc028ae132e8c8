"""The agents as data: which there are, what configuration makes of them, and what their rules come to."""

from __future__ import annotations

from typing import Any

import pytest

from agents.config.schema import Config
from agents.llm.families import Family, family
from agents.llm.settings.domains import Controls
from agents.toolkit import definitions
from agents.toolkit.definitions import Agent, UnknownAgent, agents, choose, complaint, default_name
from agents.toolkit.permission.planning import MAY_CHANGE
from agents.toolkit.permission.rules import hidden_tools
from tests.agents.llm.asking import model
from tests.agents.toolkit.permission.deciding import decide

LOOKING = ("read", "grep", "glob", "list", "webfetch", "websearch", "codesearch")
OTHERS = ("edit", "task", "todowrite", "todoread", "skill", "question", "plan_enter", "plan_exit", "anything")


def made(**config: Any) -> dict[str, Agent]:
    return agents(Config.model_validate(config))


def action(agent: Agent, permission: str, pattern: str = "x") -> str:
    return decide(permission, [pattern], agent.permission, [])


def test_the_built_in_agents() -> None:
    found = made()
    shown = [agent.name for agent in found.values() if not agent.hidden]
    assert shown == ["build", "plan", "general", "explore"]
    assert [name for name, agent in found.items() if agent.primary] == ["build", "plan"]
    assert [name for name, agent in found.items() if agent.mentionable] == ["general", "explore"]
    assert {name for name, agent in found.items() if agent.hidden} == {"compaction", "title", "summary"}
    assert [agent.name for agent in found.values() if agent.prompt] == [
        "explore",
        "compaction",
        "title",
        "summary",
    ]
    assert all(agent.settings.controls == Controls() for agent in found.values())


def test_hidden_agents_may_nothing_and_general_keeps_no_list() -> None:
    found = made()
    names = [(name, name) for name in (*LOOKING, *OTHERS, "bash")]
    for name in ("compaction", "title", "summary"):
        assert hidden_tools(names, found[name].permission) == {name for name, _ in names}
    assert {action(found["general"], name) for name in ("todowrite", "todoread")} == {"deny"}
    assert {action(found["general"], name) for name in ("edit", "bash", *LOOKING)} == {"allow"}


@pytest.mark.parametrize("general", [{}, {"*": "allow"}, {"edit": "allow", "bash": "allow", "task": "allow"}])
def test_explore_only_looks_whatever_is_allowed_in_general(general: dict[str, str]) -> None:
    explore = made(permission=general)["explore"]
    assert {action(explore, name) for name in LOOKING} == {"allow"}
    assert {action(explore, name) for name in OTHERS} == {"deny"}
    assert action(explore, "read", ".env") == "ask"
    assert action(explore, "external_directory", "/etc/*") == "ask"


@pytest.mark.parametrize("general", [{}, {"bash": "allow"}, {"*": "allow"}])
def test_explore_is_asked_about_commands_that_may_do_more_than_look(general: dict[str, str]) -> None:
    """Which those are is told by agents.toolkit.permission.planning."""
    explore = made(permission=general)["explore"]
    assert action(explore, "bash", "git log") == "allow"
    assert decide("bash", ["make", f"{MAY_CHANGE}make"], explore.permission, []) == "ask"


def test_what_the_user_forbids_or_asks_about_stays_so_for_every_agent() -> None:
    found = made(
        permission={
            "bash": {"*": "ask", "git *": "deny"},
            "read": {"secret/*": "ask"},
            "question": "deny",
            "webfetch": "deny",
        }
    )
    explore, plan = found["explore"], found["plan"]
    assert action(explore, "bash", "ls") == "ask"
    assert action(explore, "bash", "git log") == "deny"
    assert (action(explore, "read", "secret/a"), action(explore, "read", "b")) == ("ask", "allow")
    assert action(explore, "webfetch") == "deny"
    assert action(plan, "question") == "deny"


@pytest.mark.parametrize("strict", ["ask", "deny"])
def test_what_the_user_excepts_from_a_rule_is_excepted_for_every_agent(strict: str) -> None:
    found = made(
        permission={
            "bash": {"*": strict, "git status*": "allow", "git push*": "deny"},
            "external_directory": {"*": "deny", "/srv/*": "ask"},
            "webfetch": strict,
        }
    )
    for agent in (found[name] for name in ("build", "plan", "explore")):
        commands = ("git status -s", "git push", "ls")
        assert [action(agent, "bash", command) for command in commands] == ["allow", "deny", strict]
        assert action(agent, "external_directory", "/srv/a") == "ask"
        assert action(agent, "external_directory", "/etc/a") == "deny"
        assert action(agent, "webfetch") == strict


def test_an_exception_lifts_nothing_that_an_agent_asks_about() -> None:
    rules = {"bash": {"*": "deny", "*status": "allow"}, "read": {"*": "ask", "src/*": "allow"}}
    explore = made(permission=rules)["explore"]
    assert action(explore, "bash", f"{MAY_CHANGE}make status") == "deny"
    assert action(explore, "read", "src/.env") == "ask"
    every = made(permission={"*": "deny", "read": "allow", "bash": {"git *": "allow"}})["explore"]
    assert (action(every, "read", "a.py"), action(every, "read", ".env")) == ("allow", "ask")
    assert (action(every, "bash", "git log"), action(every, "bash", "ls")) == ("allow", "deny")


def test_plan_edits_nothing_but_the_plan_unless_its_own_rules_say_so() -> None:
    general = made(permission={"edit": "allow", "*": "allow"})["plan"]
    assert action(general, "edit", "src/a.py") == "deny"
    assert action(general, "edit", ".opencode/plans/a.md") == "allow"
    assert action(general, "bash", "ls") == "allow"
    own = made(agent={"plan": {"permission": {"edit": {"docs/*": "allow"}}}})["plan"]
    assert (action(own, "edit", "docs/a.md"), action(own, "edit", "src/a.py")) == ("allow", "deny")


def test_the_older_tools_become_rules() -> None:
    tools = {"write": False, "bash": True, "webfetch": False, "mcp_*": False, "mcp_one": True}
    agent = made(permission={"bash": "ask"}, agent={"a": {"tools": tools}})["a"]
    assert [action(agent, name) for name in ("edit", "webfetch", "mcp_two", "mcp_one")] == [
        "deny",
        "deny",
        "deny",
        "allow",
    ]
    assert action(agent, "bash", "ls") == "ask", "switched on is not allowed without asking"
    assert action(agent, "grep") == "allow"
    only = made(agent={"a": {"tools": {"*": False, "read": True}, "permission": {"grep": "allow"}}})["a"]
    assert [action(only, name) for name in ("read", "grep", "bash")] == ["allow", "allow", "deny"]
    assert action(made(agent={"a": {"tools": {"edit": False, "write": True}}})["a"], "edit") == "deny"
    everywhere = made(tools={"bash": False}, agent={"a": {"tools": {"bash": True}}})
    assert [action(everywhere[name], "bash") for name in ("build", "a")] == ["deny", "allow"]


def test_every_field_of_an_agent_can_be_configured() -> None:
    entry = {
        "description": "Reviews.",
        "mode": "subagent",
        "model": "x/y",
        "variant": "high",
        "prompt": "Review.",
        "temperature": 0.3,
        "top_p": 0.8,
        "maxSteps": 4,
        "color": "#ff8800",
        "hidden": True,
        "reasoningEffort": "low",
        "options": {"seed": 3},
    }
    agent = made(agent={"reviewer": entry})["reviewer"]
    assert (agent.native, agent.mode, agent.model, agent.variant) == (False, "subagent", "x/y", "high")
    assert (agent.description, agent.prompt, agent.color) == ("Reviews.", "Review.", "#ff8800")
    assert (agent.steps, agent.hidden, agent.mentionable) == (4, True, False)
    assert agent.settings.controls == Controls(temperature=0.3, top_p=0.8, seed=3)
    assert agent.settings.options == {"reasoning_effort": "low"}
    shown = made(agent={"title": {"hidden": False}, "plan": {"disable": True}})
    assert not shown["title"].hidden
    assert "plan" not in shown


def test_a_variant_of_an_agent_belongs_to_its_model() -> None:
    other = model()
    assert Agent("a", variant="high").variant_for(other) == "high"
    assert Agent("a", variant="high", model="fake/m").variant_for(other) == "high"
    assert Agent("a", variant="high", model="x/y").variant_for(other) == ""


@pytest.mark.parametrize(
    ("config", "chosen", "words"),
    [
        ({}, "build", ""),
        ({"default_agent": "plan"}, "plan", ""),
        ({"default_agent": "mine", "agent": {"mine": {}}}, "mine", ""),
        ({"default_agent": "nobody"}, "build", "'nobody' is no agent"),
        ({"default_agent": "title"}, "build", "'title' is no agent"),
        ({"default_agent": "explore"}, "build", "'explore' is a subagent"),
        ({"default_agent": "nobody", "agent": {"build": {"disable": True}}}, "plan", "'plan' is used"),
    ],
)
def test_the_default_agent_is_one_to_talk_to(config: dict[str, Any], chosen: str, words: str) -> None:
    checked = Config.model_validate(config)
    assert default_name(checked) == choose(checked, "").name == chosen
    assert words in complaint(checked)
    assert bool(complaint(checked)) == bool(words)


def test_an_unknown_agent_is_told_with_those_there_are() -> None:
    with pytest.raises(UnknownAgent, match=r"no agent named 'nobody'.* build, explore, general, plan\."):
        choose(Config(), "nobody")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("claude-sonnet-4-5", "claude"),
        ("anthropic/claude-opus-4.6", "claude"),
        ("gpt-4o", "gpt"),
        ("o3-mini", "gpt"),
        ("gpt-5.2", "codex"),
        ("gpt-6.1-sol", "codex"),
        ("gemini/gemini-2.5-pro", "gemini"),
        ("gpt-oss-120b", "default"),
        ("moonshotai/kimi-k2-thinking", "kimi"),
        ("zai-org/glm-4.7", "glm"),
        ("qwen3-coder:30b", "qwen"),
        ("llama3", "default"),
    ],
)
def test_every_family_has_a_prompt_of_its_own(name: str, expected: Family) -> None:
    assert family(model(api_model=name)) == expected
    text = definitions.family_prompt(expected)
    for word in ("todowrite", "<system-reminder>", "commit", "undo"):
        assert word in text
    families: tuple[Family, ...] = ("claude", "gpt", "codex", "gemini", "kimi", "glm", "qwen", "default")
    assert len({definitions.family_prompt(each) for each in families}) == len(families)

"""What of a repository's configuration counts before it is trusted."""

from __future__ import annotations

from typing import Any

import pytest

from agents.config.limits import limits_of
from agents.config.schema import Config
from agents.config.trust.covered import restrain
from agents.config.trust.wants import wish
from agents.toolkit.definitions import choose
from agents.toolkit.permission.rules import Floor, Rule, evaluate, floors, hidden_tools
from tests.agents.toolkit.permission.deciding import decide

FREE: list[dict[str, Any]] = [
    {"model": "a/b", "small_model": "a/c", "username": "me", "theme": "dark"},
    {"agent": {"x": {"prompt": "Do it.", "steps": 3, "mode": "primary", "model": "a/b"}}},
    {"instructions": ["docs/*.md", "./AGENTS.md"]},
    {"command": {"x": {"template": "Look at $1"}}},
    {"tools": {"bash": False}},
    {"lsp": False, "formatter": False, "browser": False, "mcp": {"x": {"enabled": False}}},
    {"keybinds": {"leader": "ctrl+x"}},
]
HELD: list[tuple[dict[str, Any], list[str]]] = [
    ({"provider": {"p": {"models": {}}, "q": {}}}, ["provider.p", "provider.q"]),
    ({"mcp": {"x": {"command": ["x"]}}}, ["mcp.x"]),
    ({"mcp": {"x": {"enabled": False, "command": ["x"]}}}, ["mcp.x"]),
    ({"lsp": {"x": {"command": ["x"]}}, "formatter": True}, ["lsp.x", "formatter"]),
    ({"browser": True}, ["browser"]),
    ({"shell": "/tmp/sh"}, ["shell"]),
    ({"skills": {"urls": ["https://skills.example"]}}, ["skills"]),
    ({"snapshot": False}, ["snapshot"]),
    ({"plugin": ["opencode-wakatime"]}, ["plugin"]),
    ({"default_agent": "build"}, ["default_agent"]),
    ({"permission": "allow"}, ["permission.*"]),
    ({"permission": {"bash": "allow", "edit": {"a": "allow"}}}, ["permission.bash", "permission.edit.a"]),
    ({"tools": {"bash": True}}, ["tools.bash"]),
    ({"agent": {"x": {"permission": {"bash": "allow"}}}}, ["agent.x.permission.bash"]),
    ({"agent": {"x": {"tools": {"bash": True}}}}, ["agent.x.tools.bash"]),
    ({"agent": {"x": {"api_base": "http://e", "options": {}}}}, ["agent.x.api_base", "agent.x.options"]),
    ({"command": {"x": {"template": "a !`touch b`"}}}, ["command.x"]),
    (
        {"instructions": ["../a", "~/b", "/c", "https://d", "e/../../f"]},
        [f"instructions.{n}" for n in range(5)],
    ),
    ({"skills": {"paths": ["/etc", "mine"]}}, ["skills.paths.0"]),
]


@pytest.mark.parametrize("values", FREE, ids=str)
def test_what_needs_no_trust_counts(values: dict[str, Any]) -> None:
    assert restrain(values) == (values, [])


@pytest.mark.parametrize(("values", "places"), HELD, ids=str)
def test_what_runs_reaches_or_allows_is_held(values: dict[str, Any], places: list[str]) -> None:
    kept, held = restrain(values)
    assert [".".join(map(str, path)) for path in held] == places
    assert all(wish(values, path).words for path in held)
    config = Config.model_validate(kept)
    for name in ("provider", "mcp", "lsp", "formatter", "shell", "browser"):
        assert not getattr(config, name)
    assert config.permission is None
    assert "allow" not in str(kept)


def test_limits_that_lift_what_holds_by_itself_are_held_and_the_others_lower() -> None:
    values = {
        "limits": {
            "subagents": 17,
            "calls": {"*": 501, "websearch": 5, "bash": False},
            "session_cost": False,
            "answer_tokens": 100,
        }
    }
    kept, held = restrain(values)
    assert [".".join(map(str, path)) for path in held] == [
        "limits.subagents",
        "limits.calls.*",
        "limits.session_cost",
    ]
    assert all(wish(values, path).words == "Raises a limit" for path in held)
    own = {"limits": {"subagents": 3, "calls": {"websearch": 2}, "answer_tokens": False}}
    limits = limits_of(Config.model_validate({**own, **kept}))
    assert (limits.subagents, limits.calls) == (3, {"*": 500, "websearch": 2})
    assert (limits.answer_tokens, limits.session_cost) == (100, 100)


def test_every_key_of_the_schema_is_free_or_held() -> None:
    """A key that somebody adds to the schema waits for trust until it is looked at."""
    entry = {"x": {"command": ["evil"], "enabled": True}}
    counted = {
        key
        for name, field in Config.model_fields.items()
        if (key := field.alias or name) in restrain({key: entry})[0]
    }
    assert counted == {
        "$schema", "model", "small_model", "fallback", "username", "theme",
        "disabled_providers", "enabled_providers",
        "compaction", "watcher", "server", "keybinds",
        "agent", "command", "instructions", "tools", "restrictions",
        "ceilings",
    }  # fmt: skip


def test_rules_of_a_repository_make_others_stricter_and_never_looser() -> None:
    kept, _ = restrain({"permission": {"*": "ask", "bash": {"*": "ask", "rm *": "deny", "ls": "allow"}}})
    user = {"permission": {"bash": {"*": "allow", "git *": "deny", "curl *": "ask"}}}
    agent = choose(Config.model_validate({**user, **kept}), "build")
    expected = {"rm x": "deny", "git push": "deny", "curl x": "ask", "ls": "ask", "echo": "ask"}
    for command, action in expected.items():
        assert decide("bash", [command], agent.permission, []) == action, command
    plan = choose(Config.model_validate(kept), "plan")
    assert decide("edit", ["a.py"], plan.permission, []) == "deny"
    alone = choose(
        Config.model_validate(restrain({"agent": {"plan": {"permission": {"edit": "ask"}}}})[0]), "plan"
    )
    assert decide("edit", ["a.py"], alone.permission, []) == "deny"


def test_a_floor_counts_wherever_it_stands() -> None:
    deny, ask = Floor("bash", "*", "deny"), Floor("bash", "*", "ask")
    allow = Rule("*", "*", "allow")
    assert evaluate("bash", "x", [deny, allow]).action == "deny"
    assert evaluate("bash", "x", [ask, Rule("bash", "*", "deny")]).action == "deny"
    assert evaluate("bash", "x", [Rule("bash", "*", "deny"), ask]).action == "deny"
    assert evaluate("edit", "x", [allow, deny]).action == "allow"
    assert decide("bash", ["x"], [allow, ask], [Rule("bash", "*", "allow")]) == "allow"
    assert hidden_tools([("bash", "bash")], [Rule("bash", "*", "deny"), ask]) == {"bash"}
    assert hidden_tools([("bash", "bash")], [deny, allow]) == {"bash"}
    assert floors("deny") == [Floor("*", "*", "deny")]

"""The rules of a turn: the demo's caution makes what is allowed stricter and nothing looser."""

from __future__ import annotations

import pytest

from agents.agent.steps.sample import effective_rules
from agents.config.schema import Config
from agents.llm.types import Model
from agents.toolkit.definitions import choose
from agents.toolkit.permission.rules import evaluate, hidden_tools
from sessions.core.models import Session

REAL = Model("fake", "fake", "Fake", "openai", "fake")
DEMO = Model("demo", "demo", "Demo", "scripted", "demo")


@pytest.mark.parametrize(
    ("agent", "permission", "real", "demo"),
    [
        ("build", "edit", "allow", "ask"),
        ("build", "bash", "allow", "ask"),
        ("build", "read", "allow", "allow"),
        ("plan", "edit", "deny", "deny"),
        ("explore", "edit", "deny", "deny"),
        ("explore", "bash", "allow", "ask"),
        ("title", "bash", "deny", "deny"),
    ],
)
def test_the_demo_asks_and_what_is_denied_stays_denied(
    agent: str, permission: str, real: str, demo: str
) -> None:
    for model, expected in ((REAL, real), (DEMO, demo)):
        rules = effective_rules(choose(Config(), agent), model, Session(), Config())
        assert evaluate(permission, "a.py", rules).action == expected
        hidden = hidden_tools([(permission, permission)], rules)
        assert bool(hidden) == (expected == "deny" and agent != "plan")


def test_a_restriction_of_a_repository_outlasts_the_demo() -> None:
    config = Config.model_validate({"restrictions": {"edit": "deny"}})
    rules = effective_rules(choose(config, "build"), DEMO, Session(), config)
    assert evaluate("edit", "a.py", rules).action == "deny"


def test_a_clients_rule_for_its_session_lifts_no_denial_of_the_user() -> None:
    config = Config.model_validate({"permission": {"bash": {"rm *": "deny"}, "edit": {"*.lock": "deny"}}})
    everything = [{"permission": "*", "pattern": "*", "action": "allow"}]
    rules = effective_rules(choose(config, "build"), REAL, Session(permission=everything), config)
    assert evaluate("bash", "rm x", rules).action == "deny"
    assert evaluate("edit", "a.lock", rules).action == "deny"
    assert evaluate("bash", "ls", rules).action == "allow"

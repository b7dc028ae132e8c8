"""What a subagent may do under the session that sent it."""

from __future__ import annotations

from pathlib import Path

from agents.agent.calls.subagents import inherited
from agents.toolkit.permission.defaults import BUILD, session_rules
from agents.toolkit.permission.planning import MAY_CHANGE, plan_rules
from agents.toolkit.permission.rules import Action, Rule, evaluate, from_config

WORKER = session_rules((), [])
READER = session_rules(from_config({"*": "deny", "read": "allow"}), [])


def action(agent: list[Rule], rules: list[Rule], permission: str, pattern: str = "*") -> Action:
    return evaluate(permission, pattern, [*agent, *rules]).action


def test_todos_and_questions_and_errands_are_closed() -> None:
    rules = inherited(WORKER, session_rules(BUILD, []), [])
    for name in ("todowrite", "todoread", "question", "plan_exit", "task"):
        assert action(WORKER, rules, name) == "deny"
    assert action(WORKER, rules, "edit", "a.py") == "allow"


def test_a_subagents_own_rules_open_questions_and_errands() -> None:
    agent = session_rules(from_config({"question": "allow", "task": {"*": "deny", "explore": "allow"}}), [])
    rules = inherited(agent, session_rules(BUILD, []), [])
    assert action(agent, rules, "question") == "allow"
    assert action(agent, rules, "task", "explore") == "allow"
    assert action(agent, rules, "task", "general") == "deny"


def test_what_the_turn_denies_stays_denied() -> None:
    config = from_config({"bash": {"rm *": "deny"}, "webfetch": "deny"})
    turn = [*session_rules(BUILD, config), *plan_rules(Path("/plans"))]
    rules = inherited(WORKER, turn, [])
    assert action(WORKER, rules, "edit", "a.py") == "deny"
    assert action(WORKER, rules, "bash", "rm -r x") == "deny"
    assert action(WORKER, rules, "bash", "ls") == "allow"
    assert action(WORKER, rules, "bash", f"{MAY_CHANGE}make") == "ask"
    assert action(WORKER, rules, "webfetch", "http://x") == "deny"


def test_an_exception_that_both_have_is_kept() -> None:
    user = from_config({"edit": {"*": "deny", "docs/*": "allow"}})
    agent = session_rules((), user)
    rules = inherited(agent, session_rules(BUILD, user), [])
    assert action(agent, rules, "edit", "docs/a.md") == "allow"
    assert action(agent, rules, "edit", "a.py") == "deny"


def test_a_denial_that_was_lifted_again_is_not_carried_over() -> None:
    turn = session_rules(from_config({"edit": "deny"}), from_config({"edit": "allow"}))
    assert action(WORKER, inherited(WORKER, turn, []), "edit", "a.py") == "allow"


def test_the_sessions_own_rules_hold_below_but_open_nothing_that_the_subagent_closes() -> None:
    allow, ask = Rule("*", "*", "allow"), Rule("bash", "*", "ask")
    turn = [*session_rules(BUILD, []), allow, ask]
    worker = inherited(WORKER, turn, [allow, ask])
    assert action(WORKER, worker, "doom_loop", "read") == "allow"
    assert action(WORKER, worker, "bash", "ls") == "ask"
    assert action(WORKER, worker, "question") == "deny"
    reader = inherited(READER, turn, [allow, Rule("edit", "*", "allow")])
    assert action(READER, reader, "read", "a.py") == "allow"
    assert action(READER, reader, "edit", "a.py") == "deny"
    assert action(READER, reader, "bash", "ls") == "deny"

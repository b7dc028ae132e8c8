from __future__ import annotations

from pathlib import Path

import pytest

from agents.toolkit.permission.defaults import BUILD, PLAN, is_guarded, session_rules
from agents.toolkit.permission.errors import PermissionDenied, PermissionRejected
from agents.toolkit.permission.rules import (
    Approval,
    Rule,
    Verdict,
    configured,
    evaluate,
    floors,
    from_config,
    hidden_tools,
    in_order,
    judge,
    merge,
    narrowed,
)
from sessions.core.wire.patterns import is_everything, matches
from tests.agents.toolkit.permission.deciding import decide


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("*", "", True),
        ("*.env", "src/.env", True),
        ("*.env", ".env.local", False),
        ("git status", "git status --short", False),
        ("git status *", "git status", True),
        ("git status *", "git status --short\n -b", True),
        ("git status *", "git statuses", False),
        ("a?c", "abc", True),
        ("a?c", "ac", False),
        ("a[bc]d", "abd", False),
        ("a[bc]d", "a[bc]d", True),
        ("a.c", "abc", False),
        ("Git *", "git x", False),
    ],
)
def test_matching(pattern: str, text: str, expected: bool) -> None:
    assert matches(pattern, text) is expected


def test_matching_does_not_backtrack() -> None:
    # Exponential or even quartic work on this text would not end within the life of the test run.
    assert not matches("*a" * 30 + "*b", "a" * 20_000 + "c")


def test_configuration_shapes_and_home() -> None:
    home = str(Path.home())
    rules = from_config(
        {
            "*": "ask",
            "edit": "deny",
            "external_directory": {"~/notes/*": "allow", "$HOME": "ask", "a~": "deny"},
        }
    )
    assert from_config("deny") == [Rule("*", "*", "deny")]
    assert rules == [
        Rule("*", "*", "ask"),
        Rule("edit", "*", "deny"),
        Rule("external_directory", f"{home}/notes/*", "allow"),
        Rule("external_directory", home, "ask"),
        Rule("external_directory", "a~", "deny"),
    ]
    with pytest.raises(ValueError, match=r"permission\.bash.*maybe"):
        from_config({"bash": {"git *": "maybe"}})


def test_last_match_wins_and_nothing_matching_asks() -> None:
    rules = from_config({"bash": {"*": "deny", "git *": "allow", "git push *": "ask"}})
    actions = [evaluate("bash", text, rules).action for text in ("ls", "git log", "git push -f")]
    assert actions == ["deny", "allow", "ask"]
    assert evaluate("edit", "a.py", rules).action == "ask"


def test_deny_wins_over_an_approval_and_over_the_other_patterns() -> None:
    rules = from_config({"bash": {"*": "ask", "rm *": "deny"}})
    approved = [Rule("bash", "*", "allow"), Rule("bash", "rm *", "allow")]
    assert decide("bash", ["ls", "rm x"], rules, approved) == "deny"
    assert decide("bash", ["ls", "cat x"], rules, approved) == "allow"
    assert decide("bash", ["ls", "cat x"], rules, [Rule("bash", "ls *", "allow")]) == "ask"
    assert decide("bash", [], rules, []) == "ask"


def test_an_approval_of_everything_does_not_cover_a_narrower_ask() -> None:
    rules = session_rules(BUILD, from_config({"edit": "ask"}))
    blanket = [Rule("edit", "*", "allow")]
    assert decide("edit", ["src/a.py"], rules, blanket) == "allow"
    rules = session_rules(BUILD, [])
    assert decide("read", [".env"], rules, [Rule("read", "*", "allow")]) == "ask"
    saved = narrowed("read", [".env"], ["*"], rules)
    assert saved == ["*.env"]
    assert decide("read", [".env"], rules, [Rule("read", saved[0], "allow")]) == "allow"
    assert narrowed("bash", ["git push"], ["git push *"], rules) == ["git push *"]


@pytest.mark.parametrize(
    ("user", "text", "expected"),
    [
        ({"rm *": "deny", "*": "allow"}, "rm x", "deny"),
        ({"rm *": "deny", "*": "ask"}, "rm x", "deny"),
        ({"rm *": "deny", "*": "allow"}, "ls", "allow"),
        ({"rm *": "deny", "r* *": "allow"}, "rm x", "deny"),
        ({"rm *": "deny", "rm x": "allow"}, "rm x", "allow"),
        ({"rm *": "deny", "rm x": "allow"}, "rm y", "deny"),
        ({"* x": "deny", "rm *": "deny", "rm x": "allow"}, "rm x", "allow"),
        ({"* -f *": "deny", "rm *": "deny", "rm * x": "allow"}, "rm -f x", "deny"),
        ({"*": "deny", "git *": "allow"}, "git log", "allow"),
        ({"*": "deny", "git *": "allow"}, "ls", "deny"),
    ],
)
def test_what_lifts_a_denial_of_the_user(user: dict[str, str], text: str, expected: str) -> None:
    rules = configured({"bash": user})
    assert evaluate("bash", text, rules).action == expected
    session = [*rules, Rule("bash", "*", "allow"), Rule("bash", text, "allow")]
    assert evaluate("bash", text, session).action == ("deny" if expected == "deny" else "allow")


def test_a_later_section_of_the_configuration_lifts_what_it_names() -> None:
    denied = configured({"bash": "deny", "edit": {"*.lock": "deny"}})
    assert evaluate("bash", "ls", [*denied, *configured({"bash": "allow"})]).action == "allow"
    assert evaluate("bash", "ls", [*denied, *configured("allow")]).action == "deny"
    assert hidden_tools([("bash", "bash")], [*denied, Rule("*", "*", "allow")]) == {"bash"}
    assert hidden_tools([("bash", "bash")], [*denied, *configured({"bash": {"ls": "allow"}})]) == set()


def test_defaults_and_agents() -> None:
    build, plan = session_rules(BUILD, []), session_rules(PLAN, [])
    assert decide("edit", ["src/a.py"], build, []) == "allow"
    assert decide("read", [".env.example", "src/.env.local"], build, []) == "ask"
    assert decide("read", [".env.example"], build, []) == "allow"
    assert decide("external_directory", ["/etc/*"], build, []) == "ask"
    assert decide("doom_loop", ["bash"], build, []) == "ask"
    assert decide("plan_exit", ["*"], build, []) == "allow"  # refuses by itself where there is no plan mode
    assert decide("edit", ["src/a.py"], plan, []) == "deny"
    assert decide("edit", [".git/config"], plan, []) == "deny"
    assert decide("edit", [".opencode/plans/x.md"], plan, []) == "allow"


@pytest.mark.parametrize(
    "user", ["allow", {"edit": "allow"}, {"edit": {"*": "allow"}}, {"e*": {"**": "allow"}}]
)
@pytest.mark.parametrize(
    "path",
    [
        "opencode.json",
        ".opencode/agent/x.md",
        ".git/hooks/pre-commit",
        "a/.git/config",
        ".mcp.json",
        "OpenCode.json",
        ".Git/hooks/pre-commit",
        "a/.OPENCODE/plugin/x.js",
    ],
)
def test_own_configuration_always_takes_an_approval_of_its_own(user: str | dict[str, str], path: str) -> None:
    rules = session_rules(BUILD, from_config(user))
    assert is_guarded(path)
    assert decide("edit", [path], rules, [Rule("edit", "*", "allow")]) == "ask"
    assert decide("edit", ["src/a.py"], rules, []) == "allow"
    assert decide("edit", [path], merge(rules, [Rule("edit", path, "allow")]), []) == "allow"


def test_a_user_who_denies_edits_is_not_loosened_by_the_guard() -> None:
    assert (
        decide("edit", ["opencode.json"], session_rules(BUILD, from_config({"edit": "deny"})), []) == "deny"
    )


def test_only_tools_that_can_never_run_are_hidden() -> None:
    tools = [("bash", "bash"), ("edit", "edit"), ("write", "edit"), ("read", "read")]
    rules = from_config({"*": "allow", "edit": "deny", "bash": {"*": "deny", "ls": "allow"}})
    assert hidden_tools(tools, rules) == {"edit", "write"}
    assert hidden_tools(tools, session_rules(PLAN, [])) == set()


def test_errors_say_what_the_model_needs() -> None:
    assert 'bash is denied for "rm *"' in str(PermissionDenied(Rule("bash", "rm *", "deny")))
    assert str(PermissionRejected("use git mv")).endswith("said: use git mv")
    assert "rejected" in str(PermissionRejected())


def test_a_verdict_names_the_rules_it_comes_from() -> None:
    rules = from_config({"bash": {"*": "ask", "rm *": "ask", "git push *": "deny"}})
    git, npm = Approval("bash", "git *", "allow", 7), Approval("bash", "npm *", "allow", 8)
    both = judge("bash", ["git log", "npm test", "git status"], rules, [git, npm])
    assert both == Verdict("allow", (git, npm))
    assert judge("bash", ["git log", "rm x", "ls"], rules, [git]) == Verdict("ask", (rules[1], rules[0]))
    assert judge("bash", ["git log", "git push x"], rules, [git]) == Verdict("deny", (rules[2],))
    assert judge("read", ["x"], from_config("allow"), [git]) == Verdict("allow"), "policy, no approval"


@pytest.mark.parametrize("pattern", ["*", "**", "?*", "*?", "* *", "*** ?"])
def test_the_ways_to_write_everything_stay_everything(pattern: str) -> None:
    rules = from_config({"read": {"*": "ask", "*.env": "ask"}})
    saved = [Approval("read", pattern, "allow", 1)]
    assert is_everything(pattern)
    assert decide("read", [".env"], rules, saved) == "ask"
    assert decide("read", ["ab"], rules, saved) == ("allow" if matches(pattern, "ab") else "ask")


@pytest.mark.parametrize("pattern", ["", "?", "??", "a*", "*.env", " "])
def test_what_is_not_everything(pattern: str) -> None:
    assert not is_everything(pattern)


@pytest.mark.parametrize(
    ("rules", "restrictions", "expected"),
    [
        ({"*": "allow"}, {"bash": "ask"}, ["ask", "ask", "ask"]),
        ({"*": "allow", "bash": "deny"}, {"bash": "ask"}, ["deny", "deny", "deny"]),
        ({"bash": {"*": "deny", "ls *": "allow"}}, {"bash": "ask"}, ["ask", "deny", "deny"]),
        ({"bash": {"*": "allow", "rm *": "deny"}}, {"bash": "ask"}, ["ask", "deny", "ask"]),
        ({"bash": "allow"}, {"bash": {"*": "ask", "ls *": "allow"}}, ["allow", "ask", "ask"]),
        ({}, {"bash": {"rm *": "deny"}}, ["ask", "deny", "ask"]),
    ],
)
def test_rules_in_order_decide_by_the_last_alone(
    rules: dict[str, str], restrictions: dict[str, str], expected: list[str]
) -> None:
    given = merge(configured(rules), floors(restrictions))
    told = in_order(given)
    for command, action in zip(("ls -l", "rm x", "make"), expected, strict=True):
        fitting = [rule.action for rule in told if rule.fits("bash", command)]
        assert (["ask", *fitting][-1], evaluate("bash", command, given).action) == (action, action)

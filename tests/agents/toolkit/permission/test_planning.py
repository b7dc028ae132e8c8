"""Plan mode's rules, and which shell lines are known to only read."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.agent.calls.subagents import inherited
from agents.toolkit.permission.defaults import EXPLORE, PLAN, session_rules
from agents.toolkit.permission.planning import MAY_CHANGE, marked, marks, plan_rules, reads_only
from agents.toolkit.permission.rules import Rule, Ruleset, from_config
from agents.toolkit.permission.shell import analyse
from tests.agents.toolkit.permission.deciding import decide

PLANS = Path("/home/somebody/.local/share/opencode-web/plans")


@pytest.fixture
def rules() -> Ruleset:
    return [*session_rules(PLAN, from_config("allow")), *plan_rules(PLANS)]


@pytest.mark.parametrize(
    "line",
    [
        "ls -la src",
        "cat a.py | grep -n 'foo$' | wc -l",
        'cd src && find . -name "*.py" -exec grep -l hello {} +',
        "cat $FILE; echo $(head -1 a.py) 2>/dev/null",
        "for name in *.py; do echo $name; done",
        "git log --oneline -5 -- a.py && git --no-pager diff HEAD~1 2>&1",
        "git branch --show-current",
        "sort -rn a | tail -3",
        "rg --files-with-matches 'def (\\w+)' src",
    ],
)
def test_lines_that_only_read(line: str, tmp_path: Path) -> None:
    assert reads_only(analyse(line, tmp_path, tmp_path))


@pytest.mark.parametrize(
    "line",
    [
        "echo x > a.py",
        "echo x > $FILE",
        "cat a.py &> $(head -1 names)",
        "cat a.py | tee b.py",
        "python3 -c 'print(1)'",
        "./ls",
        "$COMMAND",
        "find . -delete",
        "find . -exec rm {} +",
        "find . $MORE",
        "find . -fprintf out %p",
        "sort -ro a.py a.py",
        "sort --output=a.py a.py",
        "tree -o out",
        "git -c core.pager=evil log",
        "git log --output=a.py",
        "git diff --ext-diff",
        "git grep -Oevil x",
        "git branch new",
        "git $SUB",
        "rg --pre evil x",
        "RIPGREP_CONFIG_PATH=evil rg x",
        "GIT_PAGER=evil git log",
        "PATH=. ls",
        "xargs rm < names",
        "timeout 5 rm a.py",
        "ls && npm test",
        "ls() { rm a.py; }; ls",
        "echo 'unfinished",
        "",
    ],
)
def test_lines_that_are_not_known_to_only_read(line: str, tmp_path: Path) -> None:
    assert not reads_only(analyse(line, tmp_path, tmp_path))


def test_nothing_but_plans_may_be_edited(rules: Ruleset) -> None:
    for path in ("src/a.py", ".git/config", "opencode.json", ".opencode/agent/x.md", f"{PLANS}/x.py"):
        assert decide("edit", [path], rules, [Rule("edit", "*", "allow")]) == "deny"
    for path in (".opencode/plans/1-a.md", f"{PLANS}/1-a.md"):
        assert decide("edit", [path], rules, []) == "allow"
    # A plan that is a link to something else is matched by both names.
    assert decide("edit", [".opencode/plans/1-a.md", "src/a.py"], rules, []) == "deny"


def test_an_approval_for_building_does_not_lift_the_question(rules: Ruleset, tmp_path: Path) -> None:
    line = "npm test"
    analysis = analyse(line, tmp_path, tmp_path)
    patterns = [line, *marked(line, analysis, rules)]
    assert patterns == ["npm test", f"{MAY_CHANGE}npm test"]
    assert decide("bash", patterns, rules, from_config({"bash": {"npm *": "allow", "*": "allow"}})) == "ask"
    denied = [*rules[:1], *from_config({"bash": {"npm *": "deny"}}), *plan_rules(PLANS)]
    assert decide("bash", patterns, denied, []) == "deny"


def test_other_modes_are_not_touched(tmp_path: Path) -> None:
    rules = session_rules(from_config({"edit": "deny"}), [])
    analysis = analyse("echo x > a.py; npm test", tmp_path, tmp_path)
    assert marked("echo x > a.py; npm test", analysis, rules) == []


def test_subagents_of_plan_mode_are_held_to_it(rules: Ruleset) -> None:
    child = [*session_rules(EXPLORE, []), *inherited(EXPLORE, rules, [])]
    assert marks(child)
    assert decide("edit", ["a.py"], child, []) == "deny"

"""The rules of the built-in agents besides build and plan, and what no general allowance lifts.

Source: seed 004 §2.2 (hierarchy), §7.2 (merging). Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from agents.permission.planning import MAY_CHANGE
from agents.permission.rules import Action, Rule, Ruleset, evaluate, from_config
from sessions.wire.patterns import EVERYTHING, matches

GENERAL: Final[Ruleset] = tuple(from_config({"todowrite": "deny", "todoread": "deny"}))

NOTHING: Final[Ruleset] = (Rule(EVERYTHING, EVERYTHING, "deny"),)
"""For agents that only write a text."""

EXPLORE: Final[Ruleset] = tuple(
    from_config(
        {
            "*": "deny",
            **dict.fromkeys(("grep", "glob", "list", "webfetch", "websearch", "codesearch"), "allow"),
            "read": {"*": "allow", "*.env": "ask", "*.env.*": "ask", "*.env.example": "allow"},
            "bash": {"*": "allow", f"{MAY_CHANGE}*": "ask"},
            **dict.fromkeys(("external_directory", "private_address", "doom_loop"), "ask"),
        }
    )
)
"""It looks at everything and changes nothing: of the shell as in plan mode (agents.permission.planning)."""

_STRICTNESS: Final[Mapping[Action, int]] = {"allow": 0, "ask": 1, "deny": 2}


def held(agent: Ruleset, user: Ruleset) -> Iterator[Rule]:
    """What comes after the user's general rules, so that these lift nothing a built-in agent is denied.

    The agent's rules once more, as strict as the user's where those are stricter. Rules that the user wrote
    for this very agent come after them and do lift it.
    """
    if not any(rule.action == "deny" for rule in agent):
        return
    for rule in agent:
        yield _stricter(rule, user)
    for rule in user:
        ours = evaluate(rule.permission, rule.pattern, agent).action
        if _STRICTNESS[rule.action] > _STRICTNESS[ours]:
            yield rule


def _stricter(rule: Rule, user: Ruleset) -> Rule:
    said = [theirs for theirs in user if _covers(theirs, rule)]
    if said and _STRICTNESS[said[-1].action] > _STRICTNESS[rule.action]:
        return Rule(rule.permission, rule.pattern, said[-1].action)
    return rule


def _covers(theirs: Rule, rule: Rule) -> bool:
    return matches(theirs.permission, rule.permission) and matches(theirs.pattern, rule.pattern)

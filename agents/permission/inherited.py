"""The rules of a subagent's session: never more than the subagent itself and those above it may do. Pure.

Source: seed 004 §2.4 and §3.4. They are kept with the session, and so come after the subagent's own rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from agents.permission.planning import marks
from agents.permission.rules import Rule, Ruleset, evaluate, in_effect
from sessions.wire.patterns import EVERYTHING, is_everything, matches

TASK: Final = "task"
_OWN: Final = ("question", "plan_enter", "plan_exit")
"""What the subagent's own rules decide, whatever the session above it may do."""
_NEVER: Final = ("todowrite", "todoread")
_ALWAYS_LOOKED_AT: Final = ("edit", "bash")
_APART: Final = frozenset({*_OWN, *_NEVER, TASK, "doom_loop"})


def inherited(agent: Ruleset, turn: Ruleset, session: Ruleset, *, may_delegate: bool) -> list[Rule]:
    """What a child session's own rules are. `agent` are the subagent's, `turn` those in force in the turn
    that sends it, `session` those kept with the session above. Todos belong to that session; `task` stays
    only where the subagent's rules name it, and with `may_delegate`. A shell line that plan mode asks about
    is asked about here too."""
    kept = [rule for rule in session if rule.action != "allow" or not _lifts(rule, agent)]
    so_far = [*agent, *kept]
    kept += [
        rule for rule in _denied(turn) if evaluate(rule.permission, rule.pattern, so_far).action != "deny"
    ]
    kept += marks(turn)
    closed = [name for name in _OWN if evaluate(name, EVERYTHING, agent).action == "deny"]
    closed += _NEVER
    if not (may_delegate and any(rule.permission == TASK and rule.action != "deny" for rule in agent)):
        closed.append(TASK)
    return list(dict.fromkeys([*kept, *(Rule(name, EVERYTHING, "deny") for name in closed)]))


def _lifts(allow: Rule, agent: Ruleset) -> bool:
    """Whether a rule of the session above could open what the subagent's rules close."""
    return any(
        rule.action == "deny"
        and rule.permission not in _APART
        and (matches(rule.permission, allow.permission) or matches(allow.permission, rule.permission))
        for rule in agent
    )


def _denied(rules: Ruleset) -> Iterator[Rule]:
    """What these rules deny in effect, permission by permission."""
    named = [
        rule.permission for rule in rules if rule.action == "deny" and not is_everything(rule.permission)
    ]
    for name in dict.fromkeys([*_ALWAYS_LOOKED_AT, *named]):
        if name in _APART:
            continue
        denials = in_effect(name, "deny", rules)
        everything = [EVERYTHING] if evaluate(name, EVERYTHING, rules).action == "deny" else []
        yield from (Rule(name, pattern, "deny") for pattern in dict.fromkeys([*everything, *denials]))

"""Permission rules as data, and the one way to read them. Pure: no files, no database.

Source: seed 004 §7.1 and §7.2; the shape of the configuration is OpenCode's `permission` key.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Literal, cast, get_args

Action = Literal["allow", "deny", "ask"]
EVERYTHING = "*"
_STRICTNESS: dict[Action, int] = {"allow": 0, "ask": 1, "deny": 2}


@dataclass(frozen=True, slots=True)
class Rule:
    """What happens when `permission` is asked for something that `pattern` matches."""

    permission: str
    pattern: str
    action: Action


@dataclass(frozen=True, slots=True)
class Floor(Rule):
    """A rule of somebody the user has not trusted: it counts where it is stricter than the other rules."""


Ruleset = Sequence[Rule]


def from_config(value: str | Mapping[str, str | Mapping[str, str]]) -> list[Rule]:
    """Rules of a `permission` value: "ask", {"edit": "ask"} or {"bash": {"git *": "allow"}}; order kept.

    A leading `~` or `$HOME` of a pattern is the home folder. Raises ValueError that names the key.
    """
    if isinstance(value, str):
        return [Rule(EVERYTHING, EVERYTHING, _action(value, "permission"))]
    rules: list[Rule] = []
    for permission, setting in value.items():
        patterns = {EVERYTHING: setting} if isinstance(setting, str) else setting
        rules += [
            Rule(permission, _at_home(pattern), _action(action, f"permission.{permission}"))
            for pattern, action in patterns.items()
        ]
    return rules


def floors(value: str | Mapping[str, str | Mapping[str, str]]) -> list[Rule]:
    """The same as floors: wherever they stand among other rules, they make nothing looser."""
    return [Floor(rule.permission, rule.pattern, rule.action) for rule in from_config(value)]


def merge(*rulesets: Ruleset) -> list[Rule]:
    """One ruleset; later ones win because the last match wins."""
    return list(chain(*rulesets))


def evaluate(permission: str, pattern: str, rules: Ruleset) -> Rule:
    """The last rule that matches, else a rule that asks; or the last floor that matches, if stricter."""
    found: Rule | None = None
    floor: Rule | None = None
    for rule in rules:
        if matches(rule.permission, permission) and matches(rule.pattern, pattern):
            if isinstance(rule, Floor):
                floor = rule
            else:
                found = rule
    return _stricter(found or Rule(permission, pattern, "ask"), floor)


def decide(permission: str, patterns: Sequence[str], rules: Ruleset, approved: Ruleset) -> Action:
    """One answer for all patterns; `approved` are the allow rules the user saved with "always".

    Deny wins over everything. An approval lifts what a rule asks about, except that an approval of
    everything (`*`) does not lift an ask about something narrower: that needs a yes of its own.
    """
    asks = False
    for pattern in patterns or [EVERYTHING]:
        rule = evaluate(permission, pattern, rules)
        if rule.action == "deny":
            return "deny"
        asks |= rule.action == "ask" and not _approves(permission, pattern, rule, approved)
    return "ask" if asks else "allow"


def narrowed(permission: str, patterns: Sequence[str], always: Sequence[str], rules: Ruleset) -> list[str]:
    """What "always" should save: `*` becomes the patterns of the rules that asked, the rest stays.

    So "always" on `.env` approves `*.env` and not every file, and takes effect next time.
    """
    asking = (evaluate(permission, pattern, rules) for pattern in patterns)
    narrow = [rule.pattern for rule in asking if rule.action == "ask"] or [EVERYTHING]
    return list(dict.fromkeys(chain(*(narrow if is_everything(item) else [item] for item in always))))


def hidden_tools(tools: Iterable[tuple[str, str]], rules: Ruleset) -> set[str]:
    """Names of the (name, permission) pairs that can never be allowed, so the model need not see them."""
    return {name for name, permission in tools if _denied_outright(permission, rules)}


def matches(pattern: str, text: str) -> bool:
    """Whole-text match: `*` is any run of characters, `?` is one; a final ` *` may also be nothing."""
    return _compiled(pattern).match(text) is not None


def is_everything(pattern: str) -> bool:
    return pattern != "" and pattern.strip("*") == ""


def _approves(permission: str, pattern: str, asking: Rule, approved: Ruleset) -> bool:
    narrow = not is_everything(asking.pattern)
    usable = [rule for rule in approved if not (narrow and is_everything(rule.pattern))]
    return evaluate(permission, pattern, usable).action == "allow"


def _denied_outright(permission: str, rules: Ruleset) -> bool:
    matching = [rule for rule in rules if matches(rule.permission, permission)]
    last = [rule for rule in matching if not isinstance(rule, Floor)][-1:]
    floor = [rule for rule in matching if isinstance(rule, Floor)][-1:]
    return any(rule.action == "deny" and is_everything(rule.pattern) for rule in (*last, *floor))


def _stricter(rule: Rule, floor: Rule | None) -> Rule:
    return floor if floor and _STRICTNESS[floor.action] > _STRICTNESS[rule.action] else rule


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    # fnmatch writes each `*` as an atomic step, so there is no backtracking to blow up;
    # its character classes are not ours.
    expression = _expression(pattern)
    if pattern.endswith(" *"):
        expression = f"{_expression(pattern[:-2])}|{expression}"
    return re.compile(expression)


def _expression(pattern: str) -> str:
    # fnmatch writes each `*` as an atomic step, so there is no backtracking to blow up;
    # its character classes are not ours.
    return fnmatch.translate(pattern.replace("[", "[[]"))


def _action(value: object, key: str) -> Action:
    if value not in get_args(Action):
        raise ValueError(f'{key}: {value!r} is not one of "allow", "deny", "ask"')
    return cast(Action, value)


def _at_home(pattern: str) -> str:
    for prefix in ("~", "$HOME"):
        if pattern == prefix or pattern.startswith(prefix + "/"):
            return str(Path.home()) + pattern.removeprefix(prefix)
    return pattern

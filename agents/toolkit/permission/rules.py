"""Permission rules as data, and the one way to read them. Pure: no files, no database.

The shape of the configuration is OpenCode's `permission` key.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, takewhile
from pathlib import Path
from typing import Literal, cast, get_args

from sessions.core.wire.patterns import EVERYTHING, is_everything, matches

Action = Literal["allow", "deny", "ask"]
_STRICTNESS: dict[Action, int] = {"allow": 0, "ask": 1, "deny": 2}


@dataclass(frozen=True, slots=True)
class Rule:
    """What happens when `permission` is asked for something that `pattern` matches."""

    permission: str
    pattern: str
    action: Action

    def fits(self, permission: str, pattern: str) -> bool:
        return matches(self.permission, permission) and matches(self.pattern, pattern)

    @property
    def besides(self) -> str:
        """What is to be said with it, for people."""
        return ""


@dataclass(frozen=True, slots=True)
class Guard(Rule):
    """A rule about names that some file systems find in any spelling; its own pattern is in small letters."""

    def fits(self, permission: str, pattern: str) -> bool:
        return Rule.fits(self, permission, pattern.casefold())


@dataclass(frozen=True, slots=True)
class Unread(Rule):
    """A rule about commands that are not known to only read; `known` are those of the line that is asked
    about which are (`planning.knowing`)."""

    known: frozenset[str] = frozenset()

    @property
    def besides(self) -> str:
        return "but for commands that are known to only read"

    def fits(self, permission: str, pattern: str) -> bool:
        return pattern not in self.known and Rule.fits(self, permission, pattern)


@dataclass(frozen=True, slots=True)
class Floor(Rule):
    """A rule of somebody the user has not trusted: it counts where it is stricter than the other rules."""


@dataclass(frozen=True, slots=True)
class Configured(Rule):
    """A rule that the user wrote. One that denies is lifted by nobody else, and by the user in a later rule
    for the same or for something narrower (docs/decisions/0023-deny-holds.md)."""

    def lifts(self, denial: Rule) -> bool:
        return denial.fits(self.permission, self.pattern)


@dataclass(frozen=True, slots=True)
class Personal(Rule):
    """A rule that the user wrote which asks a person each time, whatever was saved or chosen."""

    @property
    def besides(self) -> str:
        return "a person, each time"


@dataclass(frozen=True, slots=True)
class Approval(Rule):
    """An allow rule that a person saved; `id` is its row."""

    id: int = 0


Ruleset = Sequence[Rule]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What happens to a call, and by which rules: the one that denies, those that ask, or the approvals that
    lifted what was asked about; none when the configuration allows it."""

    action: Action
    rules: tuple[Rule, ...] = ()


def from_config(value: str | Mapping[str, str | Mapping[str, str]]) -> list[Rule]:
    """Rules of a `permission` value: "ask", {"edit": "ask"} or {"bash": {"git *": "allow"}}; order kept.

    A leading `~` or `$HOME` of a pattern is the home folder. Raises ValueError that names the key.
    """
    if isinstance(value, str):
        return [_rule(EVERYTHING, EVERYTHING, value, "permission")]
    rules: list[Rule] = []
    for permission, setting in value.items():
        patterns = {EVERYTHING: setting} if isinstance(setting, str) else setting
        rules += [
            _rule(permission, _at_home(pattern), action, f"permission.{permission}")
            for pattern, action in patterns.items()
        ]
    return rules


def floors(value: str | Mapping[str, str | Mapping[str, str]]) -> list[Rule]:
    """The same as floors: wherever they stand among other rules, they make nothing looser."""
    return [Floor(rule.permission, rule.pattern, rule.action) for rule in from_config(value)]


def configured(value: str | Mapping[str, str | Mapping[str, str]]) -> list[Rule]:
    """The same as rules of the user's own configuration."""
    return [
        rule if isinstance(rule, Personal) else Configured(rule.permission, rule.pattern, rule.action)
        for rule in from_config(value)
    ]


def merge(*rulesets: Ruleset) -> list[Rule]:
    """One ruleset; later ones win because the last match wins."""
    return list(chain(*rulesets))


def evaluate(permission: str, pattern: str, rules: Ruleset) -> Rule:
    """The last rule that matches, else a rule that asks; before it a denial of the user's that holds; or the
    last floor that matches, if stricter."""
    found, floor = _last([rule for rule in rules if rule.fits(permission, pattern)])
    return _stricter(found or Rule(permission, pattern, "ask"), floor)


def in_order(rules: Ruleset) -> list[Rule]:
    """The same for who goes by the last rule that fits alone: what a floor comes to after the rule that
    decides without it, and those behind it no looser than it."""
    floors = [rule for rule in rules if isinstance(rule, Floor)]
    found: list[Rule] = []
    for rule in rules:
        if not isinstance(rule, Floor):
            covering = [floor for floor in floors if floor.fits(rule.permission, rule.pattern)]
            found.append(_raised(rule, covering[-1] if covering else None))
    for floor in floors:
        decided = evaluate(floor.permission, floor.pattern, rules).action
        fitting = [place for place, rule in enumerate(found) if rule.fits(floor.permission, floor.pattern)]
        if not fitting or found[fitting[-1]].action != decided:
            place = fitting[-1] + 1 if fitting else len(found)
            found.insert(place, Rule(floor.permission, floor.pattern, decided))
    return found


def in_effect(permission: str, action: Action, rules: Ruleset) -> list[str]:
    """The patterns of the rules with this action that no later rule has lifted."""
    patterns = [
        rule.pattern for rule in rules if rule.action == action and matches(rule.permission, permission)
    ]
    return [one for one in dict.fromkeys(patterns) if evaluate(permission, one, rules).action == action]


def judge(permission: str, patterns: Sequence[str], rules: Ruleset, approved: Ruleset) -> Verdict:
    """One answer for all patterns; `approved` are the allow rules that people saved.

    Deny wins over everything. An approval lifts what a rule asks about, except that an approval of
    everything (`*`) does not lift an ask about something narrower: that needs a yes of its own.
    """
    used: list[Rule] = []
    asking: list[Rule] = []
    for pattern in patterns or [EVERYTHING]:
        rule = evaluate(permission, pattern, rules)
        if rule.action == "deny":
            return Verdict("deny", (rule,))
        if rule.action == "ask":
            approval = _approval(permission, pattern, rule, approved)
            (used if approval else asking).append(approval or rule)
    if asking:
        return Verdict("ask", tuple(dict.fromkeys(asking)))
    return Verdict("allow", tuple(dict.fromkeys(used)))


def nearest(permission: str, pattern: str, rules: Ruleset) -> Rule | None:
    """The rule that almost allowed it: of those that allow something which begins with the same word, the one
    that has most of its words."""
    named = [rule for rule in rules if rule.action == "allow" and matches(rule.permission, permission)]
    others = (rule for rule in named if not rule.fits(permission, pattern))
    best = max(others, key=lambda rule: _shared(rule.pattern, pattern), default=None)
    return best if best is not None and _shared(best.pattern, pattern) else None


def _shared(first: str, second: str) -> int:
    """How many words two texts begin with alike."""
    pairs = zip(first.split(), second.split(), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def narrowed(permission: str, patterns: Sequence[str], always: Sequence[str], rules: Ruleset) -> list[str]:
    """What "always" should save: `*` becomes the patterns of the rules that asked, the rest stays.

    So "always" on `.env` approves `*.env` and not every file, and takes effect next time. Nothing where a
    person is to be asked each time.
    """
    asking = [evaluate(permission, pattern, rules) for pattern in patterns]
    if any(isinstance(rule, Personal) for rule in asking):
        return []
    narrow = [rule.pattern for rule in asking if rule.action == "ask"] or [EVERYTHING]
    return list(dict.fromkeys(chain(*(narrow if is_everything(item) else [item] for item in always))))


def hidden_tools(tools: Iterable[tuple[str, str]], rules: Ruleset) -> set[str]:
    """Names of the (name, permission) pairs that can never be allowed, so the model need not see them."""
    pairs = list(tools)
    denied = {one for one in {permission for _, permission in pairs} if _denied_outright(one, rules)}
    return {name for name, permission in pairs if permission in denied}


def _approval(permission: str, pattern: str, asking: Rule, approved: Ruleset) -> Rule | None:
    if isinstance(asking, Personal):
        return None
    narrow = not is_everything(asking.pattern)
    usable = [rule for rule in approved if not (narrow and is_everything(rule.pattern))]
    found = evaluate(permission, pattern, usable)
    return found if found.action == "allow" else None


def _denied_outright(permission: str, rules: Ruleset) -> bool:
    found, floor = _last([rule for rule in rules if matches(rule.permission, permission)])
    return any(rule and rule.action == "deny" and is_everything(rule.pattern) for rule in (found, floor))


def _last(matching: Ruleset) -> tuple[Rule | None, Rule | None]:
    """What decides among rules that match, and the last floor."""
    found: Rule | None = None
    floor: Rule | None = None
    holding: list[Configured] = []
    for rule in matching:
        if isinstance(rule, Floor):
            floor = rule
            continue
        if isinstance(rule, Configured):
            holding = [denial for denial in holding if not rule.lifts(denial)]
            holding += [rule] if rule.action == "deny" else []
        found = rule
    return (holding[-1] if holding else found), floor


def _raised(rule: Rule, floor: Rule | None) -> Rule:
    """The rule, as strict as the floor that covers it."""
    return Rule(rule.permission, rule.pattern, _stricter(rule, floor).action)


def _stricter(rule: Rule, floor: Rule | None) -> Rule:
    return floor if floor and _STRICTNESS[floor.action] > _STRICTNESS[rule.action] else rule


def _rule(permission: str, pattern: str, action: object, key: str) -> Rule:
    if action == "person":
        return Personal(permission, pattern, "ask")
    if action not in get_args(Action):
        raise ValueError(f'{key}: {action!r} is not one of "allow", "deny", "ask", "person"')
    return Rule(permission, pattern, cast(Action, action))


def _at_home(pattern: str) -> str:
    for prefix in ("~", "$HOME"):
        if pattern == prefix or pattern.startswith(prefix + "/"):
            return str(Path.home()) + pattern.removeprefix(prefix)
    return pattern

"""The action of a judgement alone, as most tests of rules compare it."""

from __future__ import annotations

from collections.abc import Sequence

from agents.toolkit.permission.rules import Action, Ruleset, judge


def decide(permission: str, patterns: Sequence[str], rules: Ruleset, approved: Ruleset) -> Action:
    return judge(permission, patterns, rules, approved).action

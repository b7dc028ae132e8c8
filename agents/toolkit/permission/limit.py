"""The permission to go on beyond a limit that is reached (docs/decisions/0043-limits.md). Pure."""

from __future__ import annotations

from typing import Final

from agents.toolkit.permission.rules import Rule, Ruleset
from sessions.core.wire.patterns import is_everything

LIMIT: Final = "limit"


def about_limits(rules: Ruleset) -> list[Rule]:
    """Without those for all permissions: they say nothing about limits, which are there for when nobody
    looks."""
    return [rule for rule in rules if not is_everything(rule.permission)]

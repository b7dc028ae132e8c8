"""The built-in rules. Source: seed 004 §7.3 (defaults), §8.4 (plan); rule 13 of the security list.

Patterns of `edit` and `read` are paths relative to the worktree, with `/` between the parts.
"""

from __future__ import annotations

from itertools import chain, product
from typing import Final

from agents.permission.rules import Floor, Rule, Ruleset, evaluate, from_config, merge
from sessions.store.permissions.marks import UNCERTAIN
from sessions.wire.patterns import READ_DEFAULTS, is_everything, matches

_OWN_FILES: Final = (
    "opencode.json",
    "opencode.jsonc",
    ".opencode",
    ".opencode/*",
    ".git",
    ".git/*",
    ".config/opencode/*",
    ".local/share/opencode-web/*",
    "opencode-web/trust.json",
)

GUARD: Final[Ruleset] = (
    *(Rule("edit", prefix + name, "ask") for name, prefix in product(_OWN_FILES, ("", "*/"))),
    Rule("edit", ".opencode/plans/*.md", "allow"),
)
"""The agent's own configuration, permission store and hooks: changing them takes an approval of its own."""

DEFAULTS: Final[Ruleset] = (
    Floor("bash", f"{UNCERTAIN}*", "ask"),
    *from_config(
        {
            "*": "allow",
            "doom_loop": "ask",
            "external_directory": {"*": "ask"},
            "private_address": "ask",
            "question": "deny",
            "plan_enter": "deny",
            "plan_exit": "deny",
            "read": READ_DEFAULTS,
        }
    ),
)

BUILD: Final[Ruleset] = tuple(from_config({"question": "allow", "plan_enter": "allow"}))

PLAN: Final[Ruleset] = tuple(
    from_config(
        {
            "question": "allow",
            "plan_exit": "allow",
            "edit": {"*": "deny", ".opencode/plans/*.md": "allow"},
        }
    )
)


def session_rules(agent: Ruleset, user: Ruleset) -> list[Rule]:
    """Defaults, the agent's rules, the user's rules."""
    return guarded(merge(DEFAULTS, agent, user))


def guarded(rules: Ruleset) -> list[Rule]:
    """The same rules with the guard after each blanket `allow` of edits.

    So `"edit": "allow"` in a configuration does not open that configuration to the agent; a rule that
    names the file does.
    """
    return list(chain.from_iterable((rule, *GUARD) if _opens_edits(rule) else (rule,) for rule in rules))


def is_guarded(path: str) -> bool:
    """Whether `path` (relative to the worktree) belongs to what the guard asks about."""
    guarded = any(rule.action == "ask" and matches(rule.pattern, path) for rule in GUARD)
    return guarded and evaluate("edit", path, GUARD).action == "ask"


def _opens_edits(rule: Rule) -> bool:
    return rule.action == "allow" and is_everything(rule.pattern) and matches(rule.permission, "edit")

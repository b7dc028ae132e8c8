"""The built-in rules. Source: docs/security.md, rule 13.

Patterns of `edit` and `read` are paths relative to the worktree, with `/` between the parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, product
from typing import Final

from agents.toolkit.permission.planning import MAY_CHANGE
from agents.toolkit.permission.rules import (
    Action,
    Floor,
    Guard,
    Rule,
    Ruleset,
    Unread,
    evaluate,
    from_config,
    merge,
)
from sessions.core import paths
from sessions.core.store.permissions.marks import UNCERTAIN
from sessions.core.wire.patterns import EVERYTHING, READ_DEFAULTS, is_everything, matches, overlap

_OWN_FILES: Final = (
    "opencode.json",
    "opencode.jsonc",
    ".opencode",
    ".opencode/*",
    ".mcp.json",
    ".git",
    ".git/*",
    ".config/opencode/*",
    ".local/share/opencode-web/*",
    "opencode-web/trust.json",
    *(f"{str(folder)[1:]}/*" for folder in paths.config_directories()[2:]),  # that the environment names
)

GUARD: Final[Ruleset] = (
    *(Guard("edit", prefix + name, "ask") for name, prefix in product(_OWN_FILES, ("", "*/"))),
    Rule("edit", ".opencode/plans/*.md", "allow"),
)
"""The agent's own configuration, permission store and hooks, and `.mcp.json`, which other agents start
programs from: changing them takes an approval of its own."""

DEFAULTS: Final[Ruleset] = (
    Floor("bash", f"{UNCERTAIN}*", "ask"),
    *from_config(
        {
            "*": "allow",
            "doom_loop": "ask",
            "limit": "ask",
            "external_directory": {"*": "ask"},
            "private_address": "ask",
            "network": "ask",
            "sandbox": "ask",
            "browser": "ask",
            "question": "deny",
            "plan_enter": "deny",
            "plan_exit": "deny",
            "read": READ_DEFAULTS,
        }
    ),
)

CAREFUL: Final[Ruleset] = (Unread("bash", EVERYTHING, "ask"),)
"""After the defaults, where nothing is configured and commands are not confined."""

_BOTH: Final = {"question": "allow", "plan_enter": "allow", "plan_exit": "allow"}
"""Each says so when it is called in the wrong mode: one list of tools for both keeps the prefix that a
provider caches."""

BUILD: Final[Ruleset] = tuple(from_config(_BOTH))

PLAN: Final[Ruleset] = tuple(
    from_config(
        {
            **_BOTH,
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
    guarded = any(rule.action == "ask" and rule.fits("edit", path) for rule in GUARD)
    return guarded and evaluate("edit", path, GUARD).action == "ask"


def _opens_edits(rule: Rule) -> bool:
    return rule.action == "allow" and is_everything(rule.pattern) and matches(rule.permission, "edit")


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
"""It looks at everything and changes nothing: of the shell as in plan mode (`permission.planning`)."""

_STRICTNESS: Final[Mapping[Action, int]] = {"allow": 0, "ask": 1, "deny": 2}


def held(agent: Ruleset, user: Ruleset) -> Iterator[Rule]:
    """What comes after the user's general rules, so that these lift nothing a built-in agent is denied.

    The agent's rules once more, as strict as the user's where those are stricter, and then those of the
    user's that are stricter still, with what the user excepts from them. Rules that the user wrote for this
    very agent come after them and do lift it.
    """
    if not any(rule.action == "deny" for rule in agent):
        return
    for rule in agent:
        yield _stricter(rule, user)
    for rule in user:
        ours = evaluate(rule.permission, rule.pattern, agent)
        stricter = _STRICTNESS[rule.action] > _STRICTNESS[ours.action]
        if ours in agent and (stricter or _is_exception(rule, ours, agent)):
            yield rule


def _is_exception(rule: Rule, ours: Rule, agent: Ruleset) -> bool:
    """Whether the agent's rules, of which `ours` is the last that fits, say no more than a rule of all that
    it is about."""
    return rule.action == ours.action != "deny" and not any(
        _STRICTNESS[other.action] > _STRICTNESS[rule.action]
        and not _covers(other, rule)
        and overlap(other.permission, rule.permission)
        and overlap(other.pattern, rule.pattern)
        for other in agent
    )


def _stricter(rule: Rule, user: Ruleset) -> Rule:
    said = [theirs for theirs in user if _covers(theirs, rule)]
    if said and _STRICTNESS[said[-1].action] > _STRICTNESS[rule.action]:
        return Rule(rule.permission, rule.pattern, said[-1].action)
    return rule


def _covers(theirs: Rule, rule: Rule) -> bool:
    return matches(theirs.permission, rule.permission) and matches(theirs.pattern, rule.pattern)

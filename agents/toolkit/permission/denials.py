"""What a shell command may turn out to be that a rule denies or asks about: then `*` does not allow it. Pure.

Rules match what a line says. Where the shell makes words of its own, a program gets more of them, or runs
what the line does not show, the command could be one that is denied: it is asked about, by a mark before its
text. A rule that names such a command (`make *`) allows it still. See docs/decisions/0023-deny-holds.md.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from agents.toolkit.permission.planning import MAY_CHANGE
from agents.toolkit.permission.rules import Rule, Ruleset, evaluate, in_effect
from agents.toolkit.permission.shell import ShellAnalysis, ShellCommand
from sessions.core.store.permissions.marks import UNCERTAIN, UNREADABLE
from sessions.core.wire.patterns import is_everything, matches, overlap


def uncertain(analysis: ShellAnalysis, rules: Ruleset) -> list[ShellCommand]:
    """Of the commands of a line those that may turn out to be denied, or to be asked about."""
    denials, asks = in_effect("bash", "deny", rules), in_effect("bash", "ask", rules)
    asks = [pattern for pattern in asks if not pattern.startswith((UNCERTAIN, MAY_CHANGE))]
    return [command for command in analysis.commands if _uncertain(command, denials, asks, rules)]


def _uncertain(command: ShellCommand, denials: list[str], asks: list[str], rules: Ruleset) -> bool:
    rule = evaluate("bash", command.text, rules)
    counts = denials or (asks and command.text.startswith(UNREADABLE))
    unseen = command.hidden or (command.code is not None and _runs(command.code, denials))
    if counts and unseen and is_everything(rule.pattern) and rule.action == "allow":
        return True
    open_to = [pattern for pattern in (*denials, *asks) if not _within(rule, pattern)]
    shape = command.shape
    return shape is not None and any(overlap(shape, pattern) for pattern in open_to)


_STARTS: Final = re.compile(
    r"system|popen|spawn|exec|fork|subprocess|child_process|ctypes|ffi|dlopen|eval|compile|import_module|importlib"
    r"|runpy|pydoc|pickle|marshal|timeit|getattr|attrgetter|globals|locals|vars\b|__\w+__|require|import\s*\(|process\b"
    r"|Function|constructor|Bun|Deno|Open3|Kernel|send\b|load\b|syscall|[\"']\s*\||`|qx|%x|\bdo\b|\bsh\b|\bbash\b"
    r"|base64|b64|codecs|decode|fromhex|chr\b|atob|unescape|\\[xu0-7]"
)
"""By which a program starts another, or hides that it does."""


def _runs(code: str, denials: Sequence[str]) -> bool:
    """Whether a program in the line names what is denied, or starts what it does not name."""
    names = (pattern.split()[0].strip("*?") for pattern in denials if pattern.split())
    return _STARTS.search(code) is not None or any(name and name in code for name in names)


def _within(rule: Rule, pattern: str) -> bool:
    """Whether the rule that decides is for a part of what is denied, and so was meant to lift it."""
    return matches(pattern, rule.pattern)

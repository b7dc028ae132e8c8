"""Plan mode in the permission layer: nothing changes but the plan. Pure. Source: seed 004 §8.4.

Tools that edit are denied every file but plan files. The shell must not be the way around that, so of a line:
- what it is known to write (redirections, `tee`, `rm`, `sed -i`, …) counts as an edit, and is denied;
- one that is known to only read (`readonly.py`) runs as the rules for `bash` say, which is mostly unasked;
- any other line is asked about each time, by a mark that no approval given in another mode lifts.

The rules come after the user's general ones, as `"permission": "allow"` is not meant for plan mode; those the
user gives to the plan agent by name come after these.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from agents.permission.readonly import reads_only
from agents.permission.rules import Rule, Ruleset
from agents.permission.shell import ShellAnalysis

MAY_CHANGE: Final = "may change files: "
"""Stands before a line that is not known to only read; a pattern for commands never begins so."""

IN_REPOSITORY: Final = ".opencode/plans/*.md"


def plan_rules(folder: Path) -> list[Rule]:
    """The rules of plan mode; `folder` holds the plans of projects that are no repositories."""
    return [
        Rule("edit", "*", "deny"),
        Rule("edit", IN_REPOSITORY, "allow"),
        Rule("edit", f"{folder}/*.md", "allow"),
        Rule("bash", f"{MAY_CHANGE}*", "ask"),
    ]


def marks(rules: Ruleset) -> list[Rule]:
    """Those of the rules that tell lines apart by the mark; without one it is not asked about."""
    return [rule for rule in rules if rule.permission == "bash" and rule.pattern.startswith(MAY_CHANGE)]


def marked(line: str, analysis: ShellAnalysis, rules: Ruleset) -> list[str]:
    """The line with its mark, as one more pattern to ask `bash` for; empty when it may run as it is."""
    return [MAY_CHANGE + line.strip()] if marks(rules) and not reads_only(analysis) else []

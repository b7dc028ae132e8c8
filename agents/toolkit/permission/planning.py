"""Plan mode in the permission layer: nothing changes but the plan. Pure.

Tools that edit are denied every file but plan files. The shell must not be the way around that, so of a line:
- what it is known to write (redirections, `tee`, `rm`, `sed -i`, …) counts as an edit, and is denied;
- one that is known to only read (`readonly.py`) runs as the rules for `bash` say, which is mostly unasked;
- any other line is asked about each time, by a mark that no approval given in another mode lifts.

The rules come after the user's general ones, as `"permission": "allow"` is not meant for plan mode; those the
user gives to the plan agent by name come after these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from agents.toolkit.permission.rules import Rule, Ruleset, Unread
from agents.toolkit.permission.runners import Options
from agents.toolkit.permission.shell import ShellAnalysis, ShellCommand

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


def knowing(rules: Ruleset, analysis: ShellAnalysis) -> Ruleset:
    """The rules for a line, of which those commands are known that only read."""
    if not any(isinstance(rule, Unread) for rule in rules):
        return rules
    reading = [command.text for command in analysis.commands if _is_certain(analysis) and _reads(command)]
    known = frozenset(reading)
    return [replace(rule, known=known) if isinstance(rule, Unread) else rule for rule in rules]


def marked(line: str, analysis: ShellAnalysis, rules: Ruleset) -> list[str]:
    """The line with its mark, as one more pattern to ask `bash` for; empty when it may run as it is."""
    return [MAY_CHANGE + line.strip()] if marks(rules) and not reads_only(analysis) else []


# Which shell lines are known to only read. Pure.
#
# Not known is not the same as writing: a program may do anything, so only commands whose every option has
# been looked at are listed here, and where an option could write or run something, what the shell expands
# counts as that option.

HARMLESS: Final = frozenset(
    "[ : basename cat cd cmp comm cut df diff dirname du echo egrep expr false fgrep grep head id jq ls"
    " md5sum nl od printf pwd readlink realpath seq sha1sum sha256sum sleep stat strings tail test tr true"
    " type uname wc which whoami".split()
)
"""Nothing that can be written behind these makes them write a file or run a program."""


CAREFUL: Final = {
    "file": Options(("--com",), "C"),
    "find": Options(("-delete", "-fprint", "-fls")),
    "rg": Options(("--pre", "--hostname-bin")),
    "sort": Options(("--o", "--comp"), "o"),
    "tree": Options(("--output",), "o"),
}

_GIT_READS: Final = frozenset(
    "blame cat-file describe diff grep log ls-files ls-tree merge-base rev-list rev-parse shortlog show"
    " status".split()
)
_GIT_OPTIONS: Final = Options(("--ou", "--op", "--ext"), "O")
_GIT_LINES: Final = frozenset(
    "git branch;git branch -a;git branch -r;git branch -v;git branch -vv;git branch --show-current;git remote"
    ";git remote -v;git stash list;git tag;git tag -l".split(";")
)
"""Listing forms of commands that otherwise change the repository."""


def reads_only(analysis: ShellAnalysis) -> bool:
    """Whether the line is known to change no file and to run no other program."""
    return _is_certain(analysis) and all(_reads(command) for command in analysis.commands)


def _is_certain(analysis: ShellAnalysis) -> bool:
    return bool(analysis.commands) and not (analysis.errors or analysis.written or analysis.opaque)


def _reads(command: ShellCommand) -> bool:
    name, *rest = command.words or ("",)
    if name in HARMLESS:
        return True
    if command.dynamic:
        return False
    if name == "git":
        return _git_reads(command.text, [word for word in rest if word != "--no-pager"])
    return name in CAREFUL and not CAREFUL[name].in_(rest)


def _git_reads(line: str, words: Sequence[str]) -> bool:
    if line in _GIT_LINES:
        return True
    return bool(words) and words[0] in _GIT_READS and not _GIT_OPTIONS.in_(words[1:])

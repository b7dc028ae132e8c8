"""Which shell lines are known to only read. Pure. Source: seed 004 §8.4 (plan mode).

Not known is not the same as writing: a program may do anything, so only commands whose every option has been
looked at are listed here, and where an option could write or run something, what the shell expands counts as
that option.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agents.permission.runners import Options
from agents.permission.shell import ShellAnalysis, ShellCommand

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
    certain = bool(analysis.commands) and not (analysis.errors or analysis.written or analysis.opaque)
    return certain and all(_reads(command) for command in analysis.commands)


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

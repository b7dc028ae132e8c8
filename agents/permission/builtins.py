"""What the shell's own commands and assignments do to the rest of the line: which of it is understood. Pure.

A variable of the line is harmless unless the shell or, once exported, some program takes it for more than
a value; a builtin is, unless it evaluates a word as code, assigns where that cannot be seen, or changes how
later words are read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from agents.permission.words import Word

_HARMLESS: Final = re.compile(
    r"LANG|LC_\w+|TZ|CI|DEBUG|NO_COLOR|FORCE_COLOR|CLICOLOR|COLUMNS|LINES|NODE_ENV|PYTHONUNBUFFERED|RUST_BACKTRACE"
)
_SPECIAL: Final = re.compile(
    r"BASH.*|CDPATH|CHILD_MAX|COMP_.*|COMPREPLY|DIRSTACK|ENV|EPOCH.*|EUID|EXECIGNORE|FCEDIT|FIGNORE|FUNC.*|"
    r"GLOB.*|GROUPS|HIST.*|HOME|HOST.*|IFS|IGNOREEOF|INPUTRC|INSIDE_EMACS|LINENO|MACHTYPE|MAIL.*|OLDPWD|OPT.*|"
    r"OSTYPE|PATH|PIPESTATUS|POSIXLY_CORRECT|PPID|PROMPT_.*|PS\d|PWD|RANDOM|READLINE_.*|SECONDS|SHELL.*|SHLVL|"
    r"SRANDOM|TEXTDOMAIN.*|TIMEFORMAT|TMOUT|TMPDIR|UID|auto_resume|histchars|_"
)
"""What bash itself reads or sets, as its manual has them."""

_NAME: Final = re.compile(r"[A-Za-z_]\w*")
_ASSIGNMENT: Final = re.compile(r"([A-Za-z_]\w*)\+?=")
_TAKES_ALONE: Final = re.compile(r'"[^"@*]*"|\$[?#$!]')
"""Written so that the shell makes exactly one word of it, or a number."""

_NEVER: Final = frozenset(
    "alias bind compgen complete compopt coproc enable fc hash history let unalias".split()
)
_DECLARES: Final = frozenset("declare export local readonly typeset".split())
_ASSIGNS: Final = frozenset("getopts mapfile read readarray unset".split())
_SETTINGS: Final = re.compile(r"-[eufxvC]*o?|[-+][euxf]+|errexit|nounset|pipefail|xtrace|noglob|--")
_GLOBS: Final = frozenset("-s -u -q dotglob failglob globstar nocaseglob nullglob".split())


def harmless(name: str) -> bool:
    """Whether no program that finds it in its environment takes more than words or looks from it."""
    return _HARMLESS.fullmatch(name) is not None


def assignable(name: str) -> bool:
    """Whether the shell keeps it to itself: nothing of its own, and not exported already."""
    plain = _NAME.fullmatch(name) and not _SPECIAL.fullmatch(name)
    return harmless(name) or bool(plain and name not in os.environ and name not in _PAGERS)


_PAGERS: Final = frozenset({"TERM", "PAGER", "GIT_PAGER"})
"""Exported to every command by the bash tool."""


def understood(name: str, words: Sequence[Word]) -> bool:
    """Whether it is known what the command `name` does to the line; True for programs."""
    rest = words[1:]
    if name in _NEVER:
        return False
    if name in ("test", "["):
        return _tests(rest)
    if name in _DECLARES:
        return all(_declares(word, exports=name == "export" or _exports(rest)) for word in rest)
    if name in _ASSIGNS:
        return all(_assigns(word) for word in rest)
    if name == "set":
        return "--" in (word.text for word in rest[:2]) or all(_SETTINGS.fullmatch(w.raw) for w in rest)
    if name == "shopt":
        return all(word.raw in _GLOBS for word in rest)
    if name == "printf":
        return not rest or not (rest[0].dynamic or rest[0].text.startswith("-v"))
    if name in ("wait", "jobs"):
        return not any(word.text.startswith(("-p", "-x", "-np")) or word.text == "-n" for word in rest)
    return True


def _tests(words: Sequence[Word]) -> bool:
    dynamic = [word.dynamic and not _is_number(word) for word in words]
    return (
        not any(word.text in ("-v", "-R") or ("[" in word.text and len(word.text) > 1) for word in words)
        and all(_TAKES_ALONE.fullmatch(word.raw) for word, moves in zip(words, dynamic, strict=True) if moves)
        and not any(first and second for first, second in pairwise(dynamic))
    )


def _is_number(word: Word) -> bool:
    return word.raw in ("$?", "$#", "$$", "$!")


def _exports(words: Sequence[Word]) -> bool:
    return any(word.text.startswith("-") and "x" in word.text for word in words)


def _declares(word: Word, *, exports: bool) -> bool:
    if word.text.startswith(("-", "+")):
        return set(word.text[1:]) <= set("rxpgF") and not word.dynamic
    given = _ASSIGNMENT.match(word.raw)
    if not given:
        return not word.dynamic and _may(word.text, exports)
    return _may(given[1], exports) and "=(" not in word.raw


def _may(name: str, exports: bool) -> bool:
    return _NAME.fullmatch(name) is not None and (harmless(name) if exports else assignable(name))


def _assigns(word: Word) -> bool:
    if word.dynamic or "[" in word.text or re.match(r"-\w*[niCc]", word.text):
        return False
    return not _NAME.fullmatch(word.text) or assignable(word.text)

"""What a shell line would do: every command in it, and the folders outside of the project it touches.

Every command of a line is checked (docs/security.md, rules 13 and 15). This is for asking the right
question, not isolation: a program may always do more than its command line says.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Final

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from agents.toolkit.permission import commands as known
from agents.toolkit.permission import paths, runners, sed, syntax
from agents.toolkit.permission.syntax import (
    always_pattern,
    assignments,
    command_name,
    inner_commands,
    inner_scripts,
    script_clear,
    shown,
    wraps_clearly,
)
from agents.toolkit.permission.words import (
    Word,
    command_words,
    late_words,
    literal,
    read_word,
    shape_of,
    source,
)
from sessions.core.store.permissions.marks import RUNS, UNREADABLE

_MAX_DEPTH = 150
_MAX_FOLDERS = 64

_OWN_SHELL = {"subshell", "command_substitution", "process_substitution", "pipeline"}
_MAYBE = {
    "if_statement", "case_statement", "for_statement", "c_style_for_statement", "while_statement",
    "function_definition", "negated_command",
}  # fmt: skip
# Where one of these is taken for a command, the grammar has misread a block: `time { ls; }`.
_RESERVED = {"!", "{", "}", "then", "do", "done", "fi", "esac", "else", "elif"}


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """One simple command: `text` is what rules are matched with, `always` the pattern "allow always" adds.

    `dynamic`: the shell makes something else of one of its words (`{}` it leaves alone). `shape` is a
    pattern of all that it may become, where that is more than the text; `hidden`: what it runs is not in the
    line; `code`: the program that it is given in the line.
    """

    text: str
    words: tuple[str, ...]
    always: str | None
    dynamic: bool = False
    shape: str | None = None
    hidden: bool = False
    code: str | None = None


@dataclass(frozen=True, slots=True)
class ShellAnalysis:
    """`external`: folders outside of the worktree; `read` and `written`: real paths of files that the line is
    known to read and to write, inside or outside; `opaque`: it also writes where that is not known before it
    runs.

    With `errors` the line was not understood to its end: its first command is the whole line, marked so that
    no pattern for a known command matches it, and nothing is offered for "always".
    """

    commands: list[ShellCommand]
    external: list[Path]
    read: list[Path]
    written: list[Path]
    errors: bool
    opaque: bool = False


def analyse(command: str, directory: Path, worktree: Path) -> ShellAnalysis:
    """Read `command` as bash would when started in `directory`. Raises nothing; see `errors`."""
    walk = _Walk()
    walk.script(command, frozenset({directory.resolve()}), 0)
    commands = list(dict.fromkeys(walk.commands))
    if walk.errors:
        whole = ShellCommand(UNREADABLE + command.strip(), (), None, hidden=True)
        commands = [whole, *(replace(item, always=None) for item in commands)]
    root = worktree.resolve()
    strangers = (path for path in walk.touched if not path.is_relative_to(root))
    return ShellAnalysis(
        commands=commands,
        external=list(dict.fromkeys(path if path.is_dir() else path.parent for path in strangers)),
        read=list(dict.fromkeys(walk.read)),
        written=list(dict.fromkeys(walk.written)),
        errors=walk.errors,
        opaque=walk.opaque,
    )


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_bash.language()))


Folders = frozenset[Path]
"""The folders the shell may be in at some point of the line."""


@dataclass(frozen=True, slots=True)
class _After:
    """Where the shell may be when a statement succeeded and when it failed."""

    ok: Folders
    failed: Folders

    @property
    def any(self) -> Folders:
        return self.ok | self.failed


class _Walk:
    def __init__(self) -> None:
        self.commands: list[ShellCommand] = []
        self.touched: list[Path] = []
        self.read: list[Path] = []
        self.written: list[Path] = []
        self.errors = False
        self.opaque = False
        self.variables = dict(os.environ)
        self.given: str | None = None
        """What the command that is looked at reads, where that is written out in the line."""

    def script(self, text: str, folders: Folders, depth: int) -> _After:
        root = _parser().parse(text.encode("utf-8", "replace")).root_node
        self.errors |= not syntax.understood(root, text)
        return self.visit(root, folders, depth)

    def visit(self, node: Node, folders: Folders, depth: int) -> _After:
        if depth > _MAX_DEPTH or len(folders) > _MAX_FOLDERS:
            self.errors = True
            return _After(folders, folders)
        depth += 1
        match node.type:
            case "command" | "declaration_command" | "unset_command":
                return self.command(node, folders, depth)
            case "list":
                return self.and_or(node, folders, depth)
            case "redirected_statement":
                return self.redirected(node, folders, depth)
            case "file_redirect":
                self.redirect(node, folders)
            case "variable_assignment":
                self.assignment(node)
            case "for_statement":
                self.errors |= not assignable(source(node.child_by_field_name("variable") or node))
            case "test_command" if node.children[0].type == "[":
                self.errors |= not understood("[", self.test_words(node))
            case "command_substitution" if source(node).lstrip().startswith("`"):
                # A backslash has rules of its own there, and hides substitutions inside.
                self.errors |= "\\" in source(node)
        after = self.sequence(node.children, folders, depth)
        if node.type in _OWN_SHELL:
            return _After(folders, folders)
        if node.type in _MAYBE:
            return _After(folders | after.any, folders | after.any)
        return after

    def sequence(self, nodes: Sequence[Node], folders: Folders, depth: int) -> _After:
        after = _After(folders, folders)
        for node, following in zip_longest(nodes, nodes[1:]):
            here = after.any
            after = self.visit(node, here, depth)
            if following is not None and following.type == "&":
                after = _After(here, here)
        return after

    def and_or(self, node: Node, folders: Folders, depth: int) -> _After:
        left = self.visit(node.children[0], folders, depth)
        both = any(child.type == "&&" for child in node.children)
        right = self.sequence(node.children[1:], left.ok if both else left.failed, depth)
        if both:
            return _After(right.ok, left.failed | right.failed)
        return _After(left.ok | right.ok, right.failed)

    def redirected(self, node: Node, folders: Folders, depth: int) -> _After:
        body = node.child_by_field_name("body")
        redirects = [child for child in node.children if child != body]
        self.sequence(redirects, folders, depth)
        late = [literal("-")] if body and syntax.has_lost_dash(node) else []
        late += late_words(redirects, self.variables)
        if body is None or body.type != "command":
            self.errors |= bool(late)
            return self.visit(body, folders, depth) if body else _After(folders, folders)
        self.given = syntax.quoted_text(redirects)
        after = self.command(body, folders, depth, late)
        self.given = None
        if self.reads_script([*command_words(body, self.variables), *late]):
            bodies = [part for child in redirects for part in child.children if part.type == "heredoc_body"]
            for part in bodies:
                self.script(source(part), folders, depth)
        return after

    def test_words(self, node: Node) -> list[Word]:
        """`[` and the words up to its `]`, which the grammar has as an expression."""
        found: list[Word] = []
        waiting = list(reversed(node.children))
        while waiting:
            child = waiting.pop()
            if child.type.endswith("_expression") and child.type != "brace_expression":
                waiting += reversed(child.children)
            else:
                operator = not child.is_named or child.type == "test_operator"
                found.append(literal(source(child)) if operator else read_word(child, self.variables))
        return found

    def reads_script(self, words: Sequence[Word]) -> bool:
        # Not only the first word: sudo and its like may stand before the shell.
        return any(word.text.rsplit("/", 1)[-1] in known.READS_SCRIPT for word in words)

    def command(self, node: Node, folders: Folders, depth: int, late: Sequence[Word] = ()) -> _After:
        for child in node.children:
            if child.type != "variable_assignment" or node.type == "declaration_command":
                self.visit(child, folders, depth)
            else:
                self.errors |= not harmless(_assigned(child), self.value(child))
                self.sequence(child.children, folders, depth)
        words = [*command_words(node, self.variables), *late]
        for redirect in (child for child in node.children if child.type == "herestring_redirect"):
            if self.reads_script(words):
                self.script(read_word(redirect.named_children[-1], self.variables).text, folders, depth)
        # The parser puts an empty name where one is missing.
        return self.simple(words, folders, depth) if words and words[0].raw else _After(folders, folders)

    def simple(self, words: Sequence[Word], folders: Folders, depth: int, *, fed: bool = False) -> _After:
        """A command given by its words; what it runs in turn is visited too. `fed`: it gets more words than
        the line has."""
        if depth > _MAX_DEPTH:
            self.errors = True
            return _After(folders, folders)
        first, name = words[0], command_name(words)
        if paths.is_system_command(first.text):
            self.commands.append(_described(words, command_name(words), fed=fed))
            return self.simple([literal(name), *words[1:]], folders, depth + 1, fed=fed)
        self.describe(words, name, fed=fed)
        self.errors |= first.raw in _RESERVED or not understood(name, words)
        self.errors |= not (wraps_clearly(words) and script_clear(words))
        self.errors |= not all(harmless(name, value) for name, value in assignments(words))
        self.touch(paths.touched(name, words), folders)
        if name == "sed":
            effects = sed.effects(words)
            self.touch([(path, paths.Use.READ) for path in effects.reads], folders)
            self.touch([(path, paths.Use.WRITE) for path in effects.writes], folders)
        after = self.change_folder(words, folders) if name in ("cd", "pushd") else _After(folders, folders)
        feeds = name in ("xargs", "parallel", "find")
        for inner in inner_commands(words):
            after = self.simple(inner, folders, depth + 1, fed=feeds)
        for script in inner_scripts(words):
            if script is None or (fed and "{}" in script):
                self.errors = True
                continue
            ran = self.script(script, folders, depth + 1)
            after = ran if name == "eval" else after
        return after

    def describe(self, words: Sequence[Word], name: str, *, fed: bool) -> None:
        """The command, what it is besides its options, and what an option makes of it."""
        command = _described(words, name, fed=fed)
        if self.given is not None and runners.reads_code(name, words):
            command = replace(command, hidden=False, code=self.given)
        self.commands.append(command)
        plain = runners.git_command(words) if name == "git" else words
        if len(plain) < len(words) and len(plain) > 1:
            self.commands.append(_described(plain, name, fed=fed))
        if runners.runs_by_option(name, words):
            exact = RUNS + command.text if command.always == command.text else None
            self.commands.append(ShellCommand(RUNS + command.text, (), exact, hidden=True))

    def change_folder(self, words: Sequence[Word], folders: Folders) -> _After:
        operands = [word for word in words[1:] if not word.text.startswith("-") or word.text == "-"]
        target = operands[0].known if operands else self.variables.get("HOME", "/")
        if operands and (not operands[0].whole or operands[0].text == "-"):
            return _After(folders, folders)
        self.touch([(target, paths.Use.GO)], folders)
        there = [path for path in (paths.resolve(folder, target) for folder in folders) if path]
        sure = all(path.is_dir() for path in there)
        return _After(frozenset(there), frozenset() if sure else folders)

    def touch(self, found: Iterable[tuple[str, paths.Use]], folders: Folders) -> None:
        for text, use in found:
            for folder in sorted(folders):
                for path in paths.meant(folder, text, use):
                    self.touched.append(path)
                    self.read += [path] if paths.Use.READ in use else []
                    self.written += [path] if paths.Use.WRITE in use else []

    def redirect(self, node: Node, folders: Folders) -> None:
        operator = next((child.type for child in node.children if not child.is_named), "<")
        target = node.child_by_field_name("destination")
        if target is None or (operator.endswith("&") and target.type == "number"):
            return
        path = paths.beginning(read_word(target, self.variables))
        if path and target.type != "process_substitution":
            self.touch([(path, paths.Use.WRITE if ">" in operator else paths.Use.READ)], folders)
        elif ">" in operator and target.type != "process_substitution":
            self.opaque = True

    def assignment(self, node: Node) -> None:
        """One that stands alone, or in a declaration."""
        name, value = _assigned(node), self.value(node)
        self.errors |= not assignable(name)
        if value is not None:
            self.variables[name] = value
        else:
            self.variables.pop(name, None)

    def value(self, assignment: Node) -> str | None:
        """What it gives, where that is known."""
        node = assignment.child_by_field_name("value")
        word = read_word(node, self.variables) if node else literal("")
        return word.known if word.whole else None


def _assigned(node: Node) -> str:
    """The name that an assignment gives a value to; nothing that is a name where it is a part of an array."""
    return source(node).split("=", 1)[0].removesuffix("+")


def _described(words: Sequence[Word], name: str, *, fed: bool) -> ShellCommand:
    dynamic = words[0].dynamic or any(word.dynamic and word.raw != "{}" for word in words)
    shape = " ".join(shape_of(word) for word in words)
    return ShellCommand(
        shown(words),
        tuple(word.text for word in words),
        None if fed and dynamic else always_pattern(words),
        dynamic,
        f"{shape} *" if fed else shape if dynamic else None,
        words[0].dynamic or runners.hides(name, words),
        runners.code(name, words),
    )


# What the shell's own commands and assignments do to the rest of the line: which of it is understood. Pure.
#
# A variable of the line is harmless unless the shell or, once exported, some program takes it for more than
# a value; a builtin is, unless it evaluates a word as code, assigns where that cannot be seen, or changes how
# later words are read.

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


_WITHIN = r"(?!\.\.)[\w.-]+(?:/(?!\.\.)[\w.-]+)*"
_HARMLESS_VALUES: Final = {
    "PYTHONPATH": re.compile(rf"{_WITHIN}(?::{_WITHIN})*"),
    "DJANGO_SETTINGS_MODULE": re.compile(r"[\w.]+"),
    "FLASK_APP": re.compile(r"[\w.:-]+"),
    "GOFLAGS": re.compile(r"(?:-mod=\w+|-count=\d+|-race|-v| )+"),
    "NODE_OPTIONS": re.compile(r"--max-old-space-size=\d+"),
    "MAKEFLAGS": re.compile(r"-j\d*"),
    "RUST_LOG": re.compile(r"[\w:=,-]+"),
    **dict.fromkeys(
        "CGO_ENABLED GO111MODULE GOOS GOARCH GOARM PORT PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONUTF8"
        " RAILS_ENV RACK_ENV MIX_ENV FLASK_ENV FLASK_DEBUG APP_ENV".split(),
        re.compile(r"[\w.-]+"),
    ),
}
"""Names that a program takes code or settings from, and the values with which that is the project's own."""


def harmless(name: str, value: str | None = None) -> bool:
    """Whether no program that finds it in its environment, with a value where that is known, takes more from
    it than words, looks, or which code of the project is run."""
    wanted = _HARMLESS_VALUES.get(name)
    of_value = wanted is not None and value is not None and wanted.fullmatch(value) is not None
    return of_value or _HARMLESS.fullmatch(name) is not None


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

"""Whether a parsed line is one that is understood to its last byte. Pure.

The grammar is an approximation of bash, so nothing is taken on trust: each node is of a known type, each leaf
looks as its type does, and between leaves there are blanks only. What bash evaluates as text a second time
(arithmetic, subscripts, indirection, `@P`) is not understood, whatever it holds; but for arithmetic over
numbers, and over names that have numbers alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from tree_sitter import Node

from agents.toolkit.permission import commands as known
from agents.toolkit.permission import runners
from agents.toolkit.permission.words import Word

_APART: Final = frozenset(
    {("[", "test_command"), ("[[", "test_command"), ("{", "compound_statement"), ("!", "negated_command")}
)
"""Words of their own, that a letter behind them makes something else."""
_TOKENS: Final = frozenset(
    "( ) { } [ ] [[ ]] ; & | |& && || ;; ;& ;;& ! = += == != =~ < > >> >& <& >&- <&- &> &>> >| << <<- <<< .."
    ' " $ $( ` <( >( -nt -ot -ef if then elif else fi for select in do done while until case esac function'
    " declare typeset export readonly local unset unsetenv".split()
) | {""}
_NODES: Final = frozenset(
    "array brace_expression case_item case_statement command command_name command_substitution"
    " compound_statement concatenation declaration_command do_group elif_clause else_clause file_redirect"
    " for_statement function_definition heredoc_redirect herestring_redirect if_statement list"
    " negated_command parenthesized_expression pipeline process_substitution program redirected_statement"
    " string subshell test_command unset_command variable_assignment variable_assignments"
    " while_statement".split()
)
_WORD: Final = re.compile(r"""(?:[^\s`$()<>&|;"'\\]|\\[^\n])*""")
_TEXT: Final = re.compile(r"(?:[^`$\\]|\\.|\$(?![\w({\[@*#?!$'-]))*", re.DOTALL)
_LEAVES: Final = {
    "ansi_c_string": re.compile(r"\$'(?:[^'\\]|\\.)*'", re.DOTALL),
    "comment": re.compile(r"#[^\n]*"),
    "extglob_pattern": _WORD,
    "file_descriptor": re.compile(r"\d+"),
    "heredoc_content": _TEXT,
    "heredoc_end": re.compile(r"\w+"),
    "heredoc_start": re.compile(r"""\w+|\\\w+|'\w+'|"\w+\""""),
    "number": re.compile(r"-?\d+"),
    "raw_string": re.compile(r"'[^']*'"),
    "regex": _TEXT,
    "special_variable_name": re.compile(r"[@*#?$!_0-]"),
    "string_content": _TEXT,
    "test_operator": re.compile(r"-[a-zA-Z]"),
    "variable_name": re.compile(r"\w+"),
    "word": _WORD,
}
_EXPANSION: Final = re.compile(
    r"\s*(?:\$(?:\w+|[@*#?$!-])"
    r"|\$\{#?(?:\w+|[@*#?$!-])(?:\[(?:\d+|[@*])\])?"
    r"(?:(?:##?|%%?|//?|\^\^?|,,?|:?[-+?])[\w .,:/*?=+@%^#!\[\]-]*|: ?-?\d+(?::-?\d+)?)?\})"
)
_ARITHMETIC: Final = re.compile(r"\$\(\((?:\$?[^\W\d]\w*|\d{1,18}(?!\w)|[-+*/%<>=!&|^~?:(),\s])*\)\)")
_GIVES: Final = frozenset(
    ". : declare eval export getopts let local mapfile printf read readarray readonly source trap"
    " typeset".split()
)
"""Commands that may give a name a value that is not seen as an assignment."""
_BLANKS: Final = re.compile(rb"(?:[ \t\n]|\\\n)*")
# Other blanks and control characters: bash takes them for letters, the grammar for blanks.
_STRANGE: Final = re.compile(r"[^\S \t\n]|[\x00-\x08\x0b-\x1f\x7f]")
# The grammar takes a line continuation inside of a word for the end of the word; bash does not.
_SPLIT_WORD: Final = re.compile(r"\S\\\n\S")
_LINE: Final = re.compile(rb"(?:[ \t]|\\\n)*")
_DASH: Final = re.compile(rb"[ \t]+-[ \t]*")
_NOTHING: Final = re.compile(rb"")
_ONE_LINE: Final = frozenset(
    "command command_name declaration_command file_redirect herestring_redirect redirected_statement"
    " unset_command variable_assignment variable_assignments".split()
)
"""A newline between their parts would end them."""
# What stands behind `>&` bash expands once more after its quotes are gone.
_COPIES: Final = re.compile(r"\d*[<>]&")
_COPY: Final = re.compile(r"\d*[<>]&\s*[\w./-]+")
_COMPARISONS: Final = frozenset({"=", "==", "!=", "=~", "<", ">", "&&", "||", "-nt", "-ot", "-ef"})


def understood(root: Node, text: str) -> bool:
    """Whether bash makes of `text` what its tree says; `root` is the node of the whole."""
    if root.has_error or _STRANGE.search(text) or _SPLIT_WORD.search(text):
        return False
    data = text.encode("utf-8", "replace")
    outside = data[: root.start_byte] + data[root.end_byte :]
    nodes = list(_nodes(root))
    numbers = _numbers(nodes)
    return _BLANKS.fullmatch(outside) is not None and all(_known(node, data, numbers) for node in nodes)


def _nodes(root: Node) -> Iterator[Node]:
    """All of them but those inside of expansions, which are looked at as texts."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        if node.type not in ("simple_expansion", "expansion", "arithmetic_expansion"):
            waiting += node.children


def _numbers(nodes: Sequence[Node]) -> dict[str, int]:
    """The names that a line gives nothing but numbers, and where it first does; what gives values in a way of
    its own leaves none. In a line of a shell of its own a name may be of the environment before that."""
    begun: dict[str, int] = {}
    others: set[str] = set()
    for node in nodes:
        if node.type in ("declaration_command", "unset_command", "c_style_for_statement"):
            return {}
        if node.type == "command_name" and _base_name(node) in _GIVES:
            return {}
        if node.type == "for_statement":
            others.add(_text(node.child_by_field_name("variable")))
        if node.type == "variable_assignment":
            name, value = _text(node).split("=", 1)[0], node.child_by_field_name("value")
            # Neither `x+=` nor `x[0]=`.
            numeric = name.isidentifier() and value is not None and _is_numeric(value)
            name = re.split(r"[+[]", name)[0]
            begun[name] = min(node.end_byte, begun.get(name, node.end_byte))
            others |= set() if numeric and node.parent and node.parent.type != "command" else {name}
    return {name: at for name, at in begun.items() if name not in others and name not in os.environ}


def _is_numeric(value: Node) -> bool:
    text = _text(value)
    return (
        _ARITHMETIC.fullmatch(text) is not None if value.type == "arithmetic_expansion" else text.isdecimal()
    )


def _base_name(node: Node) -> str:
    return _text(node).rsplit("/", 1)[-1]


def _text(node: Node | None) -> str:
    return ((node.text if node else None) or b"").decode("utf-8", "replace")


def _known(node: Node, data: bytes, numbers: Mapping[str, int]) -> bool:
    text = data[node.start_byte : node.end_byte].decode("utf-8", "replace")
    kind = node.type
    if kind == "arithmetic_expansion":
        names = re.findall(r"[^\W\d]\w*", text)
        known = all(numbers.get(name, node.end_byte) < node.start_byte for name in names)
        return known and _ARITHMETIC.fullmatch(text) is not None
    if kind in ("simple_expansion", "expansion"):
        return _EXPANSION.fullmatch(text) is not None
    if kind == "heredoc_redirect":
        return _ends(node, data) and _blank(node, data)
    if kind == "file_redirect" and _COPIES.match(text) and not _COPY.fullmatch(text):
        return False
    if kind == "heredoc_body":
        return _quotes(node) or (_TEXT.fullmatch(_between(node, data)) is not None)
    if kind in _LEAVES:
        return not node.children and _LEAVES[kind].fullmatch(text) is not None
    if kind in ("binary_expression", "unary_expression"):
        return _tests(node) and _blank(node, data)
    if not node.is_named:
        following = data[node.end_byte : node.end_byte + 1]
        if kind == "$" and following in (b"(", b"{", b"[", b"'"):
            return False  # an opening one that the grammar took for a letter
        within = node.parent.type if node.parent else ""
        if (kind, within) in _APART:
            return following in (b" ", b"\t", b"\n")
        return text.strip() in _TOKENS
    if kind == "compound_statement" and node.children[0].type != "{":
        return False
    return kind in _NODES and _blank(node, data)


def _tests(node: Node) -> bool:
    """Whether it compares texts and files: what compares numbers evaluates them, `-v` and `-R` subscripts."""
    if node.type == "unary_expression":
        operator = node.children[0]
        return (operator.text or b"") not in (b"-v", b"-R")
    operator = node.children[1]
    return (operator.text or b"").decode() in _COMPARISONS


def _ends(redirect: Node, data: bytes) -> bool:
    """Whether a here-document begins in the line after its command's and ends at its delimiter."""
    parts = {child.type: child for child in redirect.children}
    start, body, end = (parts.get(f"heredoc_{name}") for name in ("start", "body", "end"))
    if start is None or end is None:
        return False
    head = data[start.end_byte : body.start_byte if body else end.start_byte]
    text = data[start.end_byte : end.end_byte].partition(b"\n")[2]
    strip = b"\t" if "<<-" in parts else b""
    lines = [line.lstrip(strip) if strip else line for line in text.split(b"\n")]
    delimiter = (start.text or b"").strip(b"'\"\\")
    after = data[end.end_byte : end.end_byte + 1]
    return (
        lines[-1] == delimiter
        and delimiter not in lines[:-1]
        and after in (b"", b"\n")
        and b"\\\n" not in data[start.end_byte : end.end_byte]
        and head.count(b"<<") == 0
    )


def quoted_text(redirects: Sequence[Node]) -> str | None:
    """What a command is given by a here-document that the shell leaves as it is, if that is all of it."""
    nodes = [node for redirect in redirects for node in _nodes(redirect)]
    bodies = [node for node in nodes if node.type == "heredoc_body"]
    files = [node for node in nodes if node.type == "file_redirect" and b"<" in (node.text or b"")]
    others = files or any(node.type == "herestring_redirect" for node in nodes)
    return _text(bodies[0]) if len(bodies) == 1 and not others and _quotes(bodies[0]) else None


def _quotes(body: Node) -> bool:
    """Whether a here-document is taken as it stands: its delimiter is quoted."""
    redirect = body.parent
    starts = [child for child in redirect.children if child.type == "heredoc_start"] if redirect else []
    return bool(starts) and (starts[0].text or b"")[:1] in (b"'", b'"', b"\\")


def _blank(node: Node, data: bytes) -> bool:
    if node.type == "test_command" and node.children[0].type == "[" and b"\n" in (node.text or b""):
        return False
    blanks = _LINE if node.type in _ONE_LINE else _NOTHING if node.type == "concatenation" else _BLANKS
    gaps = [data[start:end] for start, end in _gaps(node)]
    if node.type == "redirected_statement" and has_lost_dash(node):
        gaps.remove(next(gap for gap in gaps if _DASH.fullmatch(gap)))
    return all(map(blanks.fullmatch, gaps))


def has_lost_dash(redirected: Node) -> bool:
    """Whether the last word of a command is a `-` before a here-document, which the grammar loses."""
    if [child.type for child in redirected.children[:2]] != ["command", "heredoc_redirect"]:
        return False
    body, first = redirected.children[:2]
    text, begin = redirected.text or b"", redirected.start_byte
    return _DASH.fullmatch(text[body.end_byte - begin : first.start_byte - begin]) is not None


def _between(node: Node, data: bytes) -> str:
    return "\0".join(data[start:end].decode("utf-8", "replace") for start, end in _gaps(node))


def _gaps(node: Node) -> Iterator[tuple[int, int]]:
    edges = [(0, node.start_byte), *((child.start_byte, child.end_byte) for child in node.children)]
    for (_, end), (start, _) in pairwise([*edges, (node.end_byte, 0)]):
        yield end, start


# From the words of one command: the commands and scripts inside of it, and its "always" pattern.

_MAX_WRAPPERS = 10
_ASSIGNMENT = re.compile(r"[^=]*=")


def command_name(words: Sequence[Word]) -> str:
    """The name without its folder; empty when it is not known before running."""
    return "" if words[0].dynamic else _base(words[0])


def shown(words: Sequence[Word]) -> str:
    """The command as one line for rules and dialogs: one blank between words."""
    return " ".join(word.shown for word in words)


def inner_commands(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """The command a wrapper runs (`sudo rm x`: `rm x`), the commands `find -exec` runs."""
    start = _inner_start(words)
    if start is not None and command_name(words) not in known.EVALUATE_ALL:
        yield words[start:]
    if command_name(words) == "find":
        yield from _find_commands(words)


def wraps_clearly(words: Sequence[Word]) -> bool:
    """Whether it is known which of the words of a wrapper are the command inside, and where that runs."""
    name = command_name(words)
    wrapper = known.WRAPPERS.get(name)
    front = words[1 : _inner_start(words)] if wrapper else []
    expected = known.WRAPPER_FLAGS.union(
        known.SCRIPT_OPTIONS.get(name, ()), wrapper.valued if wrapper else ()
    )
    return not any(
        (word.dynamic and word.raw != "{}")
        or word.text in ("-", "-C", "--chdir")
        or (name == "time" and word.text[:1] == "-" and word.text not in ("-p", "--"))
        or (word.text.startswith("--") and word.text.partition("=")[0] not in expected - {"--chdir"})
        for word in front
    )


def script_clear(words: Sequence[Word]) -> bool:
    """Whether it is known which word is the script of a shell: behind `-c` no option may take another one."""
    if command_name(words) not in known.SHELLS:
        return True
    texts = [word.text for word in words[1:]]
    start = next((at for at, text in enumerate(texts) if re.match(r"-\w*c", text)), len(texts))
    return not any(re.match(r"\+|--\w|-\w*[oO]", text) for text in texts[start:]) and not any(
        text.startswith(("--rcfile", "--init-file")) or text[:1] == "+" for text in texts[:start]
    )


def assignments(words: Sequence[Word]) -> list[tuple[str, str | None]]:
    """The names that `env NAME=value …` and `sudo NAME=value …` put into the environment, with their values
    where these are known."""
    wrapper = known.WRAPPERS.get(command_name(words))
    if wrapper is None or not wrapper.assignments:
        return []
    start = _inner_start(words)
    found = [word for word in words[1:start] if _ASSIGNMENT.match(word.text)]
    return [
        (word.text.split("=", 1)[0].rstrip("+"), word.known.partition("=")[2] if word.whole else None)
        for word in found
    ]


def inner_scripts(words: Sequence[Word]) -> Iterator[str | None]:
    """Texts that a shell will read as a script: `bash -c`, `eval`, `env -S`, `trap`, `watch`; None for one
    that the shell makes when it gets there."""
    name = command_name(words)
    yield from (_script([word]) for word in _option_scripts(name, words))
    if name == "eval":
        yield _script(words[1:])
    elif name == "trap" and len(words) > 2:
        yield _script(words[1:2])
    elif name in known.EVALUATE_ALL:
        start = _inner_start(words)
        yield from [_script(words[start:])] if start is not None else []


def _script(words: Sequence[Word]) -> str | None:
    return None if any(word.dynamic for word in words) else " ".join(word.text for word in words)


def always_pattern(words: Sequence[Word]) -> str | None:
    """What "allow always" would allow; None when nothing safe can be said."""
    at = 0
    for _ in range(_MAX_WRAPPERS):
        script = any(True for _ in inner_scripts(words[at:]))
        start = _inner_start(words[at:])
        if start is None or script:
            pattern = _own_pattern(words[at:], exact=script)
            return " ".join([*(word.shown for word in words[:at]), pattern]) if pattern else None
        if not _fixed(words[at : at + start]):
            return None
        at += start
    return None


def _own_pattern(words: Sequence[Word], *, exact: bool) -> str | None:
    count = _arity(words)
    head = words[:count]
    name = words[0].text
    exact |= len(head) < count or any(word.text.startswith("-") for word in head[1:])
    if exact or not runners.widens(name, words) or runners.runs_by_option(name, words):
        return shown(words) if _fixed(words) else None
    plain = _fixed(head) and all(word.shown == word.text for word in head)
    return f"{shown(head)} *" if plain else None


def _base(word: Word) -> str:
    return word.text.rsplit("/", 1)[-1]


def _fixed(words: Sequence[Word]) -> bool:
    return not any(word.dynamic or "*" in word.text or "?" in word.text for word in words)


def _arity(words: Sequence[Word]) -> int:
    if " ".join(word.text for word in words[:2]) in known.THREE_WORDS:
        return 3
    return 2 if words[0].text in known.TWO_WORDS else 1


def _inner_start(words: Sequence[Word]) -> int | None:
    """Index of the first word of the wrapped command."""
    name = command_name(words)
    wrapper = known.WRAPPERS.get(name)
    if wrapper is None or (name == "command" and len(words) > 1 and words[1].text in ("-v", "-V")):
        return None
    start = _after_options(words, wrapper.valued)
    while wrapper.assignments and start < len(words) and _ASSIGNMENT.match(words[start].text):
        start += 1
    start += wrapper.operands
    return start if start < len(words) and not words[start].text.startswith("-") else None


def _after_options(words: Sequence[Word], valued: frozenset[str]) -> int:
    index = 1
    while index < len(words) and words[index].text.startswith("-"):
        text = words[index].text
        index += 1
        if text == "--":
            break
        index += _takes_next(text, valued)
    return index


def _takes_next(option: str, valued: frozenset[str]) -> bool:
    if option.startswith("--"):
        return option in valued
    # In a cluster such as -nu the last letter may take the next word; an earlier one takes the rest.
    taking = next((at for at, letter in enumerate(option[1:], 1) if f"-{letter}" in valued), None)
    return taking == len(option) - 1


def _find_commands(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    at = 0
    while at < len(words):
        at += 1
        if words[at - 1].text in known.FIND_RUNS:
            end = next((i for i in range(at, len(words)) if words[i].text in (";", "+")), len(words))
            if end > at:
                yield words[at:end]
            at = end


def _option_scripts(name: str, words: Sequence[Word]) -> Iterator[Word]:
    options = known.SCRIPT_OPTIONS.get(name, ())
    for at, word in enumerate(words[1:], 1):
        for option in options:
            attached = option.startswith("--") and word.text.startswith(option + "=")
            if attached:
                text = word.text.removeprefix(option + "=")
                yield replace(word, raw=text, text=text)
            elif name not in known.SHELLS and (text := _attached(word.text, option)):
                yield replace(word, raw=text, text=text)
            elif _is_option(word.text, option) and at + 1 < len(words):
                # Options may stand between -c and its script: bash -c -e 'script'.
                yield from [rest for rest in words[at + 1 :] if not rest.text.startswith("-")][:1]


def _attached(text: str, option: str) -> str:
    """The script in one word with a short option: `env -iS'ls -a'`."""
    cluster = _is_option(text, option) and len(option) == 2
    return text.partition(option[1])[2] if cluster else ""


def _is_option(text: str, option: str) -> bool:
    cluster = text.startswith("-") and not text.startswith("--") and len(option) == 2
    return text == option or (cluster and option[1] in text[1:])

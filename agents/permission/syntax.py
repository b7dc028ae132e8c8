"""Whether a parsed line is one that is understood to its last byte. Pure.

The grammar is an approximation of bash, so nothing is taken on trust: each node is of a known type, each leaf
looks as its type does, and between leaves there are blanks only. What bash evaluates as text a second time
(arithmetic, subscripts, indirection, `@P`) is not understood, whatever it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from tree_sitter import Node

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
_BLANKS: Final = re.compile(rb"(?:[ \t\n]|\\\n)*")
# Other blanks and control characters: bash takes them for letters, the grammar for blanks.
_STRANGE: Final = re.compile(r"[^\S \t\n]|[\x00-\x08\x0b-\x1f\x7f]")
# The grammar takes a line continuation inside of a word for the end of the word; bash does not.
_SPLIT_WORD: Final = re.compile(r"\S\\\n\S")
_LINE: Final = re.compile(rb"(?:[ \t]|\\\n)*")
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
    return _BLANKS.fullmatch(outside) is not None and all(_known(node, data) for node in _nodes(root))


def _nodes(root: Node) -> Iterator[Node]:
    """All of them but those inside of expansions, which are looked at as texts."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        if node.type not in ("simple_expansion", "expansion"):
            waiting += node.children


def _known(node: Node, data: bytes) -> bool:
    text = data[node.start_byte : node.end_byte].decode("utf-8", "replace")
    kind = node.type
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


def _quotes(body: Node) -> bool:
    """Whether a here-document is taken as it stands: its delimiter is quoted."""
    redirect = body.parent
    starts = [child for child in redirect.children if child.type == "heredoc_start"] if redirect else []
    return bool(starts) and (starts[0].text or b"")[:1] in (b"'", b'"', b"\\")


def _blank(node: Node, data: bytes) -> bool:
    if node.type == "test_command" and node.children[0].type == "[" and b"\n" in (node.text or b""):
        return False
    blanks = _LINE if node.type in _ONE_LINE else _NOTHING if node.type == "concatenation" else _BLANKS
    return all(blanks.fullmatch(data[start:end]) for start, end in _gaps(node))


def _between(node: Node, data: bytes) -> str:
    return "\0".join(data[start:end].decode("utf-8", "replace") for start, end in _gaps(node))


def _gaps(node: Node) -> Iterator[tuple[int, int]]:
    edges = [(0, node.start_byte), *((child.start_byte, child.end_byte) for child in node.children)]
    for (_, end), (start, _) in pairwise([*edges, (node.end_byte, 0)]):
        yield end, start

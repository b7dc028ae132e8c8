"""A Markdown text passage by passage, each with its lines: what can be pointed at by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from markdown_it.token import Token

from sessions.core.text import prose
from sessions.rendering.blocks import LIMIT, PARSER, plain, render_block

_LISTS = ("bullet_list_open", "ordered_list_open")
_MARKER = re.compile(r"^\s*(?:\d+[.)]|[-*+])\s+")


@dataclass(frozen=True, slots=True)
class Passage:
    """`start` and `end` are lines from 1, both included; `html` is safe. An item of a list is one."""

    start: int
    end: int
    source: str
    html: str


def passages(text: str) -> list[Passage]:
    """In order. What is too much for the parser is one passage as it stands."""
    shown = prose(text.replace("\r\n", "\n"))
    lines = shown.split("\n")
    if len(shown) > LIMIT:
        return [Passage(1, len(lines), shown, plain(shown))]
    tokens: list[Token] = []
    PARSER.block.parse(shown, PARSER, {}, tokens)
    return [_passage(lines, start, end) for start, end in pairwise([*_starts(tokens), len(lines)])]


def narrowed(text: str, start: int, end: int, words: str) -> tuple[int, int]:
    """Those of the lines `start` to `end` in which words of what was made of them stand; all of them where
    the words are not found as they are."""
    wanted = _letters(words)
    letters = [_letters(_MARKER.sub("", line)) for line in text.split("\n")[start - 1 : end]]
    at = "".join(letters).find(wanted) if wanted else -1
    if at < 0:
        return start, end
    ends = list(accumulate(map(len, letters)))
    first = next(number for number, reached in enumerate(ends) if reached > at)
    last = next(number for number, reached in enumerate(ends) if reached >= at + len(wanted))
    return start + first, start + last


def _starts(tokens: Sequence[Token]) -> Iterator[int]:
    """The first lines of the top-level blocks, from 0; of a list those of its items."""
    for token in tokens:
        if not token.map or token.nesting < 0:
            continue
        if (token.level == 0 and token.type not in _LISTS) or (
            token.level == 1 and token.type == "list_item_open"
        ):
            yield token.map[0]


def _passage(lines: Sequence[str], start: int, end: int) -> Passage:
    while end > start + 1 and not lines[end - 1].strip():
        end -= 1
    source = "\n".join(lines[start:end])
    return Passage(start + 1, end, source, render_block(source))


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))

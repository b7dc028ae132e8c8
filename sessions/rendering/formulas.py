"""Formulas in Markdown: `$a$`, `$$a$$`, `\\(a\\)`, `\\[a\\]`. They reach the page as they were written, in an
element of class `formula`; it draws them (static/js/formulas.js).

Prose has dollars too. As with Pandoc and GitHub there is no blank inside of two dollars, and neither a word
ends at the first of them nor one begins at the second: `$5 and $10` and `$HOME/bin:$PATH` are none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from django.utils.html import escape
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

LANGUAGE = "math"
"""Of a code block that is a formula."""

_CLOSING = {"$$": "$$", "$": "$", "\\(": "\\)", "\\[": "\\]"}
"""The longer before the one that it begins with."""
_STANDING = ("$$", "\\[")
"""Those that stand on lines of their own."""
_MOST = 5000
"""Characters of a formula."""
_COMMANDS = re.compile(r"[\\^_={}]")
"""What is in nearly every formula, and hardly ever in prose or in a shell's words."""


def formulas(parser: MarkdownIt) -> None:
    """Make a parser know them. What they become has to pass the sanitizer: `span.formula`, `div.formula`."""
    parser.inline.ruler.before("escape", "formula", _within)
    ended = ["paragraph", "reference", "blockquote", "list"]
    parser.block.ruler.before("fence", "formula_block", _standing, {"alt": ended})
    parser.add_render_rule("formula", _shown_within)
    parser.add_render_rule("formula_block", _shown_standing)


def formula_block(source: str, name: str) -> str:
    """Safe HTML of a formula on lines of its own, its delimiters with it; `name` says what it is."""
    label = escape(name)
    return f'<div class="formula" tabindex="0" role="group" aria-label="{label}">{escape(source)}</div>\n'


def _shown_within(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    return f'<span class="formula">{escape(tokens[index].content)}</span>'


def _shown_standing(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any
) -> str:
    return formula_block(tokens[index].content, env["words"].formula)


def _within(state: StateInline, silent: bool) -> bool:
    end = _end(state.src, state.pos, state.posMax)
    if not end:
        return False
    if not silent:
        state.push("formula", "", 0).content = state.src[state.pos : end]
    state.pos = end
    return True


def _end(text: str, begin: int, limit: int) -> int:
    """Where the formula ends that begins there, 0 for none."""
    opening = next((each for each in _CLOSING if text.startswith(each, begin)), "")
    before, first = text[begin - 1 : begin], begin + len(opening)
    if not opening or (opening[0] == "$" and (before.isalnum() or before in ("$", "`"))):
        return 0
    at = _closing(text, first, min(limit, first + _MOST), _CLOSING[opening])
    end = at + len(opening)
    content = text[first:at]
    if at < 0 or not content.strip() or "`" in content:
        return 0
    if opening[0] == "$" and (text[end : end + 1].isalnum() or text[end : end + 1] in ("$", "`")):
        return 0
    tight = not (content[0].isspace() or content[-1].isspace())
    fits = tight or opening == "\\(" or (opening in _STANDING and _COMMANDS.search(content))
    return end if fits and not (opening == "\\[" and text[end : end + 1] in ("(", "[")) else 0


def _closing(text: str, begin: int, limit: int, closing: str) -> int:
    at = text.find(closing, begin, limit)
    while at > begin and text[at - 1] == "\\" and closing[0] == "$":
        at = text.find(closing, at + 1, limit)
    return at


def _standing(state: StateBlock, begin: int, end: int, silent: bool) -> bool:
    """Whether it begins is decided by its first line alone, so that more text changes nothing before it;
    where it does not end before a blank line, it is a paragraph."""
    first = _line(state, begin)
    opening = first[:2]
    if opening not in _STANDING or state.is_code_block(begin):
        return False
    closing, rest = _CLOSING[opening], first[2:]
    at = rest.find(closing)
    if rest[at + 2 :].strip() if at >= 0 else rest and not _COMMANDS.search(rest):
        return False
    if silent:
        return True
    last, ended = begin + 1, at >= 0
    while not ended and last < end and not state.isEmpty(last) and state.sCount[last] >= state.blkIndent:
        ended = _line(state, last).endswith(closing)
        last += 1
    state.line = last
    text = state.getLines(begin, last, state.blkIndent, False).strip()
    if ended and text[2:-2].strip() and len(text) <= _MOST:
        token = state.push("formula_block", "", 0)
        token.content, token.map = text, [begin, last]
    else:
        _paragraph(state, text, [begin, last])
    return True


def _paragraph(state: StateBlock, text: str, lines: list[int]) -> None:
    state.push("paragraph_open", "p", 1).map = lines
    inline = state.push("inline", "", 0)
    inline.content, inline.map, inline.children = text, lines, []
    state.push("paragraph_close", "p", -1)


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].strip()

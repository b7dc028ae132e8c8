"""Streaming Markdown, block by block, so that a long answer costs linear work.

A top-level block is closed once the next one has begun: it is rendered then and never again. The open
block is rendered anew only when that costs a small share of the time; an open code block just grows.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import nh3
from django.utils.html import escape
from django.utils.translation import get_language, gettext
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from sessions.core.offload import NotDone, offload
from sessions.core.text import prose
from sessions.rendering.formulas import LANGUAGE as FORMULA
from sessions.rendering.formulas import formula_block, formulas
from sessions.rendering.highlight import SECONDS, SMALL, highlight

SHARE = 20
"""The open block is rendered again after this many times what the last rendering took."""

_MAYBE_CLOSING = re.compile(r" {0,3}[`~]*[ \t]*\Z")


@dataclass(frozen=True, slots=True)
class Update:
    """What a reader has to do: append `closed`, then replace the open block, then append `grown` to it.

    All are safe HTML; `open` is None where the open block stays as it is.
    """

    closed: str = ""
    open: str | None = None
    grown: str = ""

    def __bool__(self) -> bool:
        return bool(self.closed or self.grown or self.open is not None)


class BlockStream:
    """Feed it text as it comes.

    `growing_id` is the element id that `grown` is to be appended to; `clock` gives seconds.
    """

    def __init__(self, growing_id: str = "", clock: Callable[[], float] = time.perf_counter) -> None:
        self._growing_id = growing_id
        self._clock = clock
        self._tail = ""  # from the start of the open block on
        self._closing_fence: re.Pattern[str] | None = None
        self._scanned = 0  # how much of the tail was searched for the closing fence
        self._shown: int | None = None  # how much of the tail was shown, when the block only grows
        self._not_before = 0.0
        self.behind = False

    def feed(self, text: str) -> Update:
        """Take more text in; the update is empty when rendering is not due yet."""
        self._tail += prose(text.replace("\r", ""))
        self.behind = True
        return self.poll()

    def poll(self) -> Update:
        """Show what is due; call it again after `due_in` seconds while `behind`."""
        if not self.behind:
            return Update()
        if self.due_in() > 0 and self._closing_fence is None:
            return Update() if self._shown is None else Update(grown=self._grow())
        started = self._clock()
        update = self._advance()
        self._not_before = self._clock() + SHARE * (self._clock() - started)
        self.behind = False
        return update

    @property
    def size(self) -> int:
        """Characters of the open block."""
        return len(self._tail)

    def due_in(self) -> float:
        """Seconds until the open block may be rendered again."""
        return max(0.0, self._not_before - self._clock())

    def close(self) -> Update:
        """The text is complete: all that is left becomes closed blocks."""
        html = _render_chunks(split(self._tail), words())
        self._tail, self.behind = "", False
        self._leave_block()
        return Update(closed=html, open="")

    def _advance(self) -> Update:
        closed = _render_chunks(self._cut_closed(), words())
        shell = None
        if self._shown is None and (self._closing_fence or len(self._tail) > LIMIT):
            shell = self._begin_growing()
        if self._shown is not None:
            return Update(closed, shell, self._grow())
        return Update(closed, _render(self._tail, words()))

    def _cut_closed(self) -> list[str]:
        """Cut the closed blocks off the tail."""
        closed = [] if self._closing_fence else self._cut_blocks()
        while (end := self._fence_end()) is not None:
            closed.append(self._cut(end))
            closed += self._cut_blocks()
        return closed

    def _cut_blocks(self) -> list[str]:
        """By parsing complete lines: the last block may go on, those before it cannot."""
        complete = self._tail[: self._tail.rfind("\n") + 1]
        tokens = _top_level(complete)
        starts = _offsets(complete, tokens)
        closed = [complete[begin:end] for begin, end in pairwise([0, *starts[1:]])]
        if closed:
            self._cut(starts[-1])
        if tokens and tokens[-1].type == "fence":
            mark = tokens[-1].markup
            self._closing_fence = re.compile(
                rf"^ {{0,3}}{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$", re.MULTILINE
            )
            first = 0 if closed else starts[0]
            self._scanned = self._tail.index("\n", first) + 1
        return closed

    def _fence_end(self) -> int | None:
        if self._closing_fence is None:
            return None
        complete = self._tail.rfind("\n") + 1
        found = self._closing_fence.search(self._tail, self._scanned, complete)
        self._scanned = max(self._scanned, complete)
        return found.end() if found else None

    def _cut(self, end: int) -> str:
        chunk, self._tail = self._tail[:end], self._tail[end:]
        self._leave_block()
        return chunk

    def _leave_block(self) -> None:
        self._closing_fence, self._shown, self._scanned = None, None, 0

    def _begin_growing(self) -> str:
        """The element that grown text goes into: a code block, or plain text for an oversized block."""
        growing = f'<span id="{escape(self._growing_id)}"></span>'
        if self._closing_fence is None:
            self._shown = 0
            return f'<div class="plain" dir="auto">{growing}</div>'
        opening = self._tail.lstrip("\n")
        self._shown = len(self._tail) - len(opening) + opening.index("\n") + 1
        language = opening[: opening.index("\n")].strip().lstrip("`~").split()
        return code_block(growing, language[0] if language else "", words())

    def _grow(self) -> str:
        assert self._shown is not None
        end = len(self._tail)
        line = self._tail.rfind("\n") + 1
        if self._closing_fence is not None and _MAYBE_CLOSING.match(self._tail, line):
            end = line
        grown, self._shown = self._tail[self._shown : end], max(end, self._shown)
        return str(escape(grown))


def split(text: str) -> list[str]:
    """Markdown cut into its top-level blocks; together they are the text."""
    starts = _offsets(text, _top_level(text))
    cuts = [0, *starts[1:], len(text)]
    return [text[begin:end] for begin, end in pairwise(cuts)]


def render_whole(text: str) -> str:
    """HTML of a finished text: the same as what a stream of it would have shown in the end."""
    text = prose(text.replace("\r", ""))
    try:
        return _render_whole(text, *words())
    except NotDone:
        return plain(text)


@lru_cache(maxsize=128)
@offload(over=SMALL, seconds=SECONDS)
def _render_whole(text: str, *names: str) -> str:
    return _render_chunks(split(text), Words(*names))


def _render_chunks(chunks: list[str], names: Words) -> str:
    return "".join(_render_block(chunk.strip("\n"), *names) for chunk in chunks if chunk.strip())


def _top_level(text: str) -> list[Token]:
    """The opening tokens of the top-level blocks, by the block parser alone."""
    tokens: list[Token] = []
    PARSER.block.parse(text, PARSER, {}, tokens)
    return [token for token in tokens if token.level == 0 and token.nesting >= 0 and token.map]


def _offsets(text: str, tokens: list[Token]) -> list[int]:
    """Where in the text the blocks start."""
    wanted = [token.map[0] for token in tokens if token.map]
    offsets, line, position = [], 0, 0
    for start in wanted:
        while line < start:
            position = text.index("\n", position) + 1
            line += 1
        offsets.append(position)
    return offsets


# Markdown of a model to safe HTML (docs/security.md, rule 8): hostile text in, allow-listed tags out.
#
# Two walls: markdown-it never passes raw HTML through, and nh3 keeps only the tags, attributes and link
# schemes named here. No image is ever loaded: an image becomes a link to it.

LIMIT = 64 * 1024
"""Characters of one block above which it is shown as plain text: parsing has quadratic corners."""

SCHEMES = ("http://", "https://", "mailto:")
_REL = "noopener noreferrer"
_RUNS = {"paragraph_open", "heading_open", "bullet_list_open", "ordered_list_open", "blockquote_open"}
_SCROLLS = 'tabindex="0" role="group" aria-label="{}"'
"""What is wider than its place has to be in reach of the keyboard, and what is focused has to have a name."""
_DIAGRAM = "mermaid"
"""The language of code blocks that the page draws (static/js/diagrams.js)."""
_TAGS = set(
    "p h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong s a br hr span div button "
    "table thead tbody tr th td".split()
)
_ATTRIBUTES = {
    **{tag: {"dir"} for tag in ("p", "h2", "h3", "h4", "h5", "h6", "ul", "blockquote")},
    "a": {"href", "title", "target"},
    "code": {"class"},
    "span": {"class", "title"},
    "div": {"aria-label", "class", "dir", "role", "tabindex"},
    "pre": {"aria-label", "role", "tabindex"},
    "button": {"class", "type"},
    "ol": {"dir", "start"},
    "th": {"class"},
    "td": {"class"},
}


class Words(NamedTuple):
    """What the page says in a text of somebody else; the other process has no catalogues."""

    copy: str
    code: str
    code_in: str
    table: str
    formula: str


def words() -> Words:
    """In the language of the reader."""
    return _words(get_language())


@cache
def _words(language: str | None) -> Words:
    return Words(
        gettext("Copy"), gettext("Code"), gettext("Code in {}"), gettext("Table"), gettext("Formula")
    )


def render_block(text: str) -> str:
    """HTML of one top-level block."""
    return _render_block(text, *words())


@lru_cache(maxsize=2048)
def _render_block(text: str, *names: str) -> str:
    """Shared by every reader of the same text in the same language."""
    return _render(text, Words(*names))


def _render(text: str, names: Words) -> str:
    try:
        return _rendered(text, *names) if len(text) <= LIMIT else plain(text)
    except NotDone:
        return plain(text)


def plain(text: str) -> str:
    """HTML of a text that is too much for the parser."""
    return f'<div class="plain" dir="auto">{escape(text)}</div>'


@offload(over=SMALL, seconds=SECONDS)
def _rendered(text: str, *names: str) -> str:
    html = PARSER.render(text, {"words": Words(*names)})
    schemes = {"http", "https", "mailto"}
    return nh3.clean(html, tags=_TAGS, attributes=_ATTRIBUTES, url_schemes=schemes, link_rel=_REL)


def _fence(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    token = tokens[index]
    language = token.info.split(maxsplit=1)[0] if token.info.strip() else ""
    if language == FORMULA:
        return formula_block(f"$$\n{token.content.strip()}\n$$", env["words"].formula)
    return code_block(highlight(token.content, language), language, env["words"])


def code_block(inner: str, language: str, names: Words) -> str:
    """A code block around HTML that is already safe, with its name and a button to copy it."""
    scrolls = _SCROLLS.format(escape(names.code_in.format(language) if language else names.code))
    kind = "code diagram" if language == _DIAGRAM else "code"
    return (
        f'<div class="{kind}"><div class="code-head"><span>{escape(language)}</span>'
        f'<button type="button" class="copy">{escape(names.copy)}</button></div>'
        f"<pre {scrolls}><code>{inner}</code></pre></div>"
    )


def _harmless(state: StateCore) -> None:
    """Links keep allow-listed schemes only, images become links, headings stay below the page's own;
    what stands on its own runs in the direction of its first letters."""
    for token in state.tokens:
        if token.level == 0 and token.type in _RUNS:
            token.attrs["dir"] = "auto"
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{max(2, int(token.tag[1]))}"
        elif token.type in ("th_open", "td_open"):
            _align(token)
        elif token.children:
            token.children = _harmless_inline(token.children)


def _align(token: Token) -> None:
    """Inline styles are forbidden by the page's policy: alignment becomes a class."""
    style = str(token.attrs.pop("style", ""))
    if style:
        token.attrs["class"] = style.replace("text-align:", "align-")


def _harmless_inline(tokens: Sequence[Token]) -> list[Token]:
    kept: list[Token] = []
    closers: list[str] = []
    for token in tokens:
        if token.type == "link_open":
            _safe_link(token)
            closers.append(token.tag)
            kept.append(token)
        elif token.type == "link_close":
            token.tag = closers.pop()
            kept.append(token)
        elif token.type == "image":
            kept += _image_as_link(token, inside_link=bool(closers))
        else:
            kept.append(token)
    return kept


def _safe_link(token: Token) -> None:
    href = str(token.attrs.get("href", ""))
    if href.lower().startswith(SCHEMES):
        token.attrs["target"] = "_blank"
    else:
        token.tag, token.attrs = "span", {"class": "path", "title": href}


def _image_as_link(token: Token, *, inside_link: bool) -> list[Token]:
    source = str(token.attrs.get("src", ""))
    text = Token("text", "", 0, content=token.content or source or "image")
    if inside_link:
        return [text]
    opening = Token("link_open", "a", 1, attrs={"href": source})
    _safe_link(opening)
    return [opening, text, Token("link_close", opening.tag, -1)]


def _table(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    return f'<div class="table" dir="auto" {_SCROLLS.format(escape(env["words"].table))}><table>'


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.use(formulas)
    parser.core.ruler.push("harmless", _harmless)
    parser.add_render_rule("fence", _fence)
    parser.add_render_rule("code_block", _fence)
    parser.add_render_rule("table_open", _table)
    parser.add_render_rule("table_close", lambda *_: "</table></div>")
    return parser


PARSER = _parser()

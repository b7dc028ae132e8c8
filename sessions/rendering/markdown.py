"""Markdown of a model to safe HTML (issue 2, Security rule 8): hostile text in, allow-listed tags out.

Two walls: markdown-it never passes raw HTML through, and nh3 keeps only the tags, attributes and link
schemes named here. No image is ever loaded: an image becomes a link to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import nh3
from django.utils.html import escape
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from sessions.offload import NotDone, offload

from .highlight import SECONDS, SMALL, highlight

LIMIT = 64 * 1024
"""Characters of one block above which it is shown as plain text: parsing has quadratic corners."""

SCHEMES = ("http://", "https://", "mailto:")
_REL = "noopener noreferrer"
_TAGS = set(
    "p h3 h4 h5 h6 ul ol li blockquote pre code em strong s a br hr span div button "
    "table thead tbody tr th td".split()
)
_ATTRIBUTES = {
    "a": {"href", "title", "target"},
    "code": {"class"},
    "span": {"class", "title"},
    "div": {"class"},
    "button": {"class", "type"},
    "ol": {"start"},
    "th": {"class"},
    "td": {"class"},
}


@lru_cache(maxsize=2048)
def render_block(text: str) -> str:
    """HTML of one top-level block, shared by every reader of the same text."""
    return render(text)


def render(text: str) -> str:
    """HTML of a piece of Markdown, not cached."""
    try:
        return _rendered(text) if len(text) <= LIMIT else plain(text)
    except NotDone:
        return plain(text)


def plain(text: str) -> str:
    """HTML of a text that is too much for the parser."""
    return f'<div class="plain">{escape(text)}</div>'


@offload(over=SMALL, seconds=SECONDS)
def _rendered(text: str) -> str:
    return nh3.clean(
        PARSER.render(text), tags=_TAGS, attributes=_ATTRIBUTES, url_schemes={"http", "https", "mailto"},
        link_rel=_REL,
    )  # fmt: skip


def _fence(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    token = tokens[index]
    language = token.info.split(maxsplit=1)[0] if token.info.strip() else ""
    return code_block(highlight(token.content, language), language)


def code_block(inner: str, language: str) -> str:
    """A code block around HTML that is already safe, with its name and a button to copy it."""
    return (
        f'<div class="code"><div class="code-head"><span>{escape(language)}</span>'
        f'<button type="button" class="copy">Copy</button></div><pre><code>{inner}</code></pre></div>'
    )


def _harmless(state: StateCore) -> None:
    """Links keep allow-listed schemes only, images become links, headings stay below the page's own."""
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 2)}"
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


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.core.ruler.push("harmless", _harmless)
    parser.add_render_rule("fence", _fence)
    parser.add_render_rule("code_block", _fence)
    parser.add_render_rule("table_open", lambda *_: '<div class="table"><table>')
    parser.add_render_rule("table_close", lambda *_: "</table></div>")
    return parser


PARSER = _parser()

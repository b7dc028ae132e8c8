"""Syntax colours as CSS classes (static/css/code.css), never as inline styles."""

from __future__ import annotations

from functools import lru_cache

import pygments
from django.utils.html import escape
from pygments.formatters.html import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.util import ClassNotFound

from sessions.core.offload import NotDone, offload

LIMIT = 48 * 1024
"""Characters above which code is shown without colours: a lexer costs up to 10 µs a character."""
SMALL = 4 * 1024
"""Characters up to which a lexer or a parser with quadratic corners may run here, on whatever text."""
SECONDS = 3.0
"""Of work on a longer text, elsewhere (sessions/core/offload.py)."""

_FORMATTER: HtmlFormatter[str] = HtmlFormatter(nowrap=True)


def highlight(code: str, language: str) -> str:
    """Safe HTML of code in a language named as in a Markdown fence; plain when it is unknown or long."""
    if not language or len(code) > LIMIT:
        return str(escape(code))
    try:
        return _coloured(code, language)
    except NotDone:
        return str(escape(code))


@offload(over=SMALL, seconds=SECONDS)
def _coloured(code: str, language: str) -> str:
    lexer = _lexer(language.lower())
    return str(escape(code) if lexer is None else pygments.highlight(code, lexer, _FORMATTER))


@lru_cache(maxsize=128)
def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


@lru_cache(maxsize=256)
def lexer_for_file(name: str) -> Lexer | None:
    """The lexer for files with this name, if there is one."""
    try:
        return get_lexer_for_filename(name, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None

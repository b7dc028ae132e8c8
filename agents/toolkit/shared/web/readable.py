"""A fetched page as Markdown, plain text or as it came."""

from __future__ import annotations

import codecs
from typing import Literal

from agents.toolkit.base import ToolError
from agents.toolkit.shared.web.fetch import Page
from agents.toolkit.shared.web.markup import LONGEST, converted
from sessions.core.offload import NotDone

_COSTLY = frozenset({"punycode", "idna", "unicode_escape", "raw_unicode_escape"})
"""Codecs of Python that no page is written in; the first two take quadratic time."""

Format = Literal["markdown", "text", "html"]


def readable(page: Page, wanted: Format) -> str:
    """Text of a page; anything that is not HTML stays as it is. It blocks. Raises ToolError."""
    text = page.body.decode(page.charset if _known(page.charset) else "utf-8", "replace")
    if wanted == "html" or page.mime not in ("text/html", "application/xhtml+xml"):
        return text
    try:
        made = converted(text[:LONGEST], wanted == "markdown")
    except NotDone as error:
        raise ToolError(
            f"The page could not be turned into {wanted}: {error}. Ask for it as html to read it as it came."
        ) from error
    cut = len(text) - LONGEST
    return f"{made}\n\n(The last {cut:,} characters of the page's HTML were left out.)" if cut > 0 else made


def _known(charset: str) -> bool:
    try:
        "".encode(charset)
    except (LookupError, UnicodeError):
        return False
    return codecs.lookup(charset).name.replace("-", "_") not in _COSTLY

"""A fetched page as Markdown, plain text or as it came."""

from __future__ import annotations

import codecs
import re
from typing import Literal

from agents.toolkit.base import ToolError
from agents.toolkit.shared.web.fetch import Page
from agents.toolkit.shared.web.markup import LONGEST, converted
from sessions.core import filetext
from sessions.core.offload import NotDone

_COSTLY = frozenset({"punycode", "idna", "unicode_escape", "raw_unicode_escape"})
"""Codecs of Python that no page is written in; the first two take quadratic time."""

_DECLARED = re.compile(
    rb"""<(?:meta\b[^>]*?\bcharset|\?xml\b[^>]*?\bencoding)\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE
)
_PRESCAN = 4096
"""Bytes in which a page says its encoding; browsers look at the first 1024."""

Format = Literal["markdown", "text", "html"]


def readable(page: Page, wanted: Format) -> str:
    """Text of a page; anything that is not HTML stays as it is. It blocks. Raises ToolError."""
    text = page.body.decode(encoding(page), "replace").removeprefix("\ufeff")
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


def encoding(page: Page) -> str:
    """The codec of a page: by its byte order mark, as the server says or it says itself, else as it looks."""
    looks = filetext.detect(page.body[: filetext.SAMPLE])
    found = _DECLARED.search(page.body, 0, _PRESCAN) if "html" in page.mime or "xml" in page.mime else None
    said = () if looks.bom else (page.charset, found[1].decode() if found else "")
    name = codecs.lookup(next(filter(_known, said), looks.name)).name
    return "cp1252" if name in ("iso8859-1", "ascii") else name


def _known(charset: str) -> bool:
    try:
        "".encode(charset)
    except (LookupError, UnicodeError):
        return False
    return codecs.lookup(charset).name.replace("-", "_") not in _COSTLY

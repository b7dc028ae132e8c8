"""A fetched page as Markdown, plain text or as it came."""

from __future__ import annotations

from typing import Literal

from agents.tools.shared.web.fetch import Page

Format = Literal["markdown", "text", "html"]

_NO_CONTENT = ("script", "style", "noscript", "template", "svg", "iframe", "object", "embed", "link", "meta")


def readable(page: Page, wanted: Format) -> str:
    """Text of a page; anything that is not HTML stays as it is."""
    text = (
        page.body.decode(page.charset, "replace")
        if _known(page.charset)
        else page.body.decode("utf-8", "replace")
    )
    if wanted == "html" or page.mime not in ("text/html", "application/xhtml+xml"):
        return text
    from bs4 import BeautifulSoup  # 70 ms: not before the first page
    from markdownify import MarkdownConverter

    soup = BeautifulSoup(text, "html.parser")
    for element in soup(_NO_CONTENT):
        element.decompose()
    if wanted == "text":
        lines = (line.strip() for line in soup.get_text("\n").splitlines())
        return "\n".join(line for line in lines if line)
    converted = MarkdownConverter(heading_style="atx", bullets="-").convert_soup(soup)
    return _without_gaps(str(converted))


def _known(charset: str) -> bool:
    try:
        "".encode(charset)
    except LookupError:
        return False
    return True


def _without_gaps(text: str) -> str:
    lines: list[str] = []
    for line in text.splitlines():
        if line.strip() or (lines and lines[-1]):
            lines.append(line.rstrip())
    return "\n".join(lines).strip()

"""HTML of a stranger as Markdown or as plain text. No heavy import before the first page."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from sessions.core.offload import offload

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

LONGEST = 2 * 1024 * 1024
"""Characters of HTML that are looked at."""
SECONDS = 10.0
"""Of work, for a page of the largest size."""

_NO_CONTENT = ("script", "style", "noscript", "template", "svg", "iframe", "object", "embed", "link", "meta")

_BLOCKS = tuple(
    "address article aside blockquote body br caption dd details div dl dt fieldset figcaption figure footer"
    " form h1 h2 h3 h4 h5 h6 header hr li main nav ol option p pre section summary table tbody tfoot thead"
    " title tr ul".split()
)
_HELD = {ord(" "): "\x01", ord("\t"): "\x02", ord("\n"): "\x03", ord("\r"): None}
_RELEASED = {1: " ", 2: "\t"}
"""White space of code, hidden while that of the text around it is taken together."""
_LANGUAGE = re.compile(r"(?:language|lang|highlight-source|highlight|brush:) ?-?([A-Za-z][\w+#.-]*)")


@offload(over=0, seconds=SECONDS)
def converted(html: str, markdown: bool) -> str:
    """Raises NotDone."""
    from bs4 import BeautifulSoup  # 70 ms
    from markdownify import MarkdownConverter

    soup = BeautifulSoup(html[:LONGEST], "html.parser")
    for element in soup(_NO_CONTENT):
        element.decompose()
    if not markdown:
        return _plain(soup)
    converter = MarkdownConverter(heading_style="atx", bullets="-", code_language_callback=_language)
    return _without_gaps(str(converter.convert_soup(soup)))


def _plain(soup: BeautifulSoup) -> str:
    """A line for each block of text; code keeps its lines and their indentation."""
    from bs4.element import NavigableString

    for code in soup("pre"):
        for text in [one for one in code.find_all(string=True) if type(one) is NavigableString]:
            text.replace_with(text.translate(_HELD))
    for text in [one for one in soup.find_all(string=True) if type(one) is NavigableString]:
        text.replace_with(re.sub(r"[ \t\r\n\f]+", " ", text))
    for element in soup(_BLOCKS):
        element.insert_before("\n")
        element.insert_after("\n")
    for cell in soup(("td", "th")):
        cell.insert_after(" ")
    lines = (
        line.strip().translate(_RELEASED).rstrip()
        for line in soup.get_text().replace("\x03", "\n").split("\n")
    )
    return "\n".join(line for line in lines if line)


def _language(code: Tag) -> str:
    """What a page says that a block of code is written in; empty for nothing."""
    for element in (code, *code.find_all("code", limit=1), *islice(code.parents, 2)):
        named = element.get("data-lang") or element.get("data-language")
        found = _LANGUAGE.search(" ".join(element.get_attribute_list("class")))
        if language := str(named or (found[1] if found else "")):
            return language if _LANGUAGE.fullmatch(f"lang-{language}") else ""
    return ""


def _without_gaps(text: str) -> str:
    lines: list[str] = []
    for line in text.splitlines():
        if line.strip() or (lines and lines[-1]):
            lines.append(line.rstrip())
    return "\n".join(lines).strip()

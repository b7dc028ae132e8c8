"""HTML of a stranger as Markdown or as plain text. No heavy import before the first page."""

from __future__ import annotations

from sessions.offload import offload

LONGEST = 2 * 1024 * 1024
"""Characters of HTML that are looked at."""
SECONDS = 10.0
"""Of work, for a page of the largest size."""

_NO_CONTENT = ("script", "style", "noscript", "template", "svg", "iframe", "object", "embed", "link", "meta")


@offload(over=0, seconds=SECONDS)
def converted(html: str, markdown: bool) -> str:
    """Raises NotDone."""
    from bs4 import BeautifulSoup  # 70 ms
    from markdownify import MarkdownConverter

    soup = BeautifulSoup(html[:LONGEST], "html.parser")
    for element in soup(_NO_CONTENT):
        element.decompose()
    if not markdown:
        lines = (line.strip() for line in soup.get_text("\n").splitlines())
        return "\n".join(line for line in lines if line)
    return _without_gaps(str(MarkdownConverter(heading_style="atx", bullets="-").convert_soup(soup)))


def _without_gaps(text: str) -> str:
    lines: list[str] = []
    for line in text.splitlines():
        if line.strip() or (lines and lines[-1]):
            lines.append(line.rstrip())
    return "\n".join(lines).strip()

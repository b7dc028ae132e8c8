"""Hostile Markdown comes out harmless."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.rendering.blocks import SCHEMES, render_whole

HARMLESS = (
    "p h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong s a br hr span div button "
    "table thead tbody tr th td"
).split()


class Audit(HTMLParser):
    """Collects what a browser would act on."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[a](javascript:alert(1))",
        "[a](JaVaScRiPt&colon;alert(1))",
        "[a](data:text/html;base64,PHNjcmlwdD4=)",
        "[a](vbscript:x) [b](file:///etc/passwd) [c](//evil.example/x) [d](/projects/open)",
        "![a](https://evil.example/track.png) ![b](data:image/svg+xml;base64,PHN2Zz4=)",
        "[![a](https://evil.example/x.png)](https://example.org/)",
        '```"><script>alert(1)</script>\n</code></pre><script>alert(2)</script>\n```',
        '<https://example.org/"onmouseover=alert(1)>',
        "| <script> |\n|:-:|\n| <b onclick=x> |",
        "\ud800 lone surrogate",
    ],
)
def test_hostile_markdown_is_harmless(text: str) -> None:
    audit = Audit(render_whole(text))
    assert audit.tags <= set(HARMLESS)
    ours = {"role", "tabindex", "aria-label", "dir"}
    assert audit.attributes <= {"href", "title", "target", "rel", "class", "type", "start"} | ours
    assert all(link.startswith(SCHEMES) for link in audit.links)


@given(st.text(alphabet="<>\"'`[]()!|-*_~:/\\ \n\tajscript&#;", max_size=200))
def test_no_text_makes_a_forbidden_tag_or_link(text: str) -> None:
    audit = Audit(render_whole(text))
    assert audit.tags <= set(HARMLESS)
    assert all(link.startswith(SCHEMES) for link in audit.links)


def test_links_open_elsewhere_and_tell_nothing() -> None:
    html = render_whole("[a](https://example.org/x)")
    assert 'rel="noopener noreferrer"' in html
    assert 'target="_blank"' in html


def test_an_image_is_a_link_and_loads_nothing() -> None:
    html = render_whole("![the chart](https://example.org/x.png)")
    assert "<img" not in html
    assert '<a href="https://example.org/x.png"' in html
    assert "the chart" in html


def test_code_is_coloured_by_classes_alone() -> None:
    html = render_whole("```python\ndef f(): return 1\n```")
    assert '<span class="k">def</span>' in html
    assert "style=" not in html


@pytest.mark.parametrize(
    "text", ["x" * 5_000_000, "```\n" + "x = 1\n" * 800_000, "[" * 100_000, "*a " * 50_000]
)
def test_oversized_blocks_are_shown_whole_without_parsing(text: str) -> None:
    html = render_whole(text)
    assert Audit(html).tags <= {"div", "pre", "code", "span", "button"}
    assert len(html) >= len(text.rstrip("\n").removeprefix("```\n"))


def test_what_may_be_wide_is_in_reach_of_the_keyboard() -> None:
    html = render_whole('| a |\n|---|\n| b |\n\n```py"><b>\nx\n```\n\n    y\n')
    places = ' tabindex="0" role="group" aria-label="'
    assert f'<div class="table" dir="auto"{places}Table">' in html
    assert f'<pre{places}Code in py&quot;&gt;&lt;b&gt;">' in html
    assert f'<pre{places}Code">' in html


@pytest.mark.parametrize(("written", "level"), [("# a", 2), ("## a", 2), ("### a", 3), ("###### a", 6)])
def test_a_heading_stays_below_the_title_of_the_page(written: str, level: int) -> None:
    assert render_whole(written) == f'<h{level} dir="auto">a</h{level}>\n'


def test_what_stands_on_its_own_runs_as_its_first_letters_do() -> None:
    html = render_whole("مرحبا\n\n- אחת\n  - two\n\n> مرحبا\n\n```\nx\n```\n")
    assert html.count('dir="auto"') == 3
    assert '<p dir="auto">مرحبا</p>' in html
    assert '<ul dir="auto">\n<li>אחת\n<ul>' in html

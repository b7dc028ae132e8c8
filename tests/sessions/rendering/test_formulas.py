"""What in Markdown is a formula, and what only has dollars in it."""

from __future__ import annotations

import html
import re

import pytest

from sessions.rendering.blocks import render_whole


def found(text: str) -> list[str]:
    """The formulas as they reach the page."""
    shown = render_whole(text)
    return [html.unescape(one) for one in re.findall(r'class="formula"[^>]*>([^<]*)<', shown)]


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("so $x^2$ is", ["$x^2$"]),
        ("($a$), $b$: $c$.", ["$a$", "$b$", "$c$"]),
        (r"\(n\) and \( n + 1 \)", [r"\(n\)", r"\( n + 1 \)"]),
        (r"we have $$a_1 = b$$ and \[ c^2 \] here", ["$$a_1 = b$$", r"\[ c^2 \]"]),
        ("$$ x = y $$", ["$$ x = y $$"]),
        ("$$\nx\n= y\n- z\n$$", ["$$\nx\n= y\n- z\n$$"]),
        ("\\[\n\\begin{aligned}\na &= b \\\\\nc &= d\n\\end{aligned}\n\\]", None),
        ("Thus:\n$$\nx\n$$\nand so on", ["$$\nx\n$$"]),
        ("- one\n  $$\n  x\n  $$\n- two $y$", ["$$\nx\n$$", "$y$"]),
        ("> $$\n> x\n> $$", ["$$\nx\n$$"]),
        ("```math\nx < y\n\nz\n```", ["$$\nx < y\n\nz\n$$"]),
        (r"$\text{it costs \$5}$", [r"$\text{it costs \$5}$"]),
        ("| a |\n|---|\n| $x_1$ |", ["$x_1$"]),
        ("**$x$**", ["$x$"]),
    ],
)
def test_formulas_reach_the_page_as_written(text: str, formulas: list[str] | None) -> None:
    assert found(text) == ([text] if formulas is None else formulas)


@pytest.mark.parametrize(
    "text",
    [
        "It costs $5 and $10.",
        "US$5 and US$6, or $5-$10",
        "Set $HOME/bin:$PATH and run it",
        "The variable $FOO, then $BAR.",
        "between $A and $B and $C",
        "`$x$` and `a $b`, `c$ d`",
        "$5 `a$`",
        "```sh\necho $a$ $$\n```",
        "    $x$",
        "echo $$ and kill $$",
        "$$ is the process\n\nand $$ again",
        r"\$x\$ and \$5$",
        r"a list \[one\](https://example.org)",
        "$ x $",
        "$$$$",
        "$",
        r"\(",
        r"\( \)",
        "$$\nnever ended\n\n$$ x",
    ],
)
def test_dollars_of_prose_and_code_are_no_formulas(text: str) -> None:
    assert found(text) == []


def test_what_is_not_ended_is_a_paragraph() -> None:
    assert render_whole("$$\n**a**\n\nb") == (
        '<p dir="auto">$$\n<strong>a</strong></p>\n<p dir="auto">b</p>\n'
    )


def test_hostile_text_is_escaped() -> None:
    assert found("$<img src=x>$") == ["$<img src=x>$"]
    assert "<img" not in render_whole('$<img src=x>$\n\n$$\n"><script>\n$$\n\n```math\n</div>\n```')

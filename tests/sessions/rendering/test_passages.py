"""Passages of a Markdown text, and the lines in which selected words stand."""

from __future__ import annotations

import pytest

from sessions.rendering.blocks import LIMIT
from sessions.rendering.passages import narrowed, passages

TEXT = """
# Farewell

Say *goodbye*
to all.

1. Edit `hello.py`
   - and its tests
2. Run the tests

```
code

more
```
"""


def test_each_block_and_each_item_of_a_list_is_one() -> None:
    found = passages(TEXT)
    assert [(one.start, one.end) for one in found] == [(2, 2), (4, 5), (7, 8), (9, 9), (11, 15)]
    assert '<ol start="2"' in found[3].html
    assert found[2].source == "1. Edit `hello.py`\n   - and its tests"


def test_what_is_hostile_is_text() -> None:
    (one,) = passages("<script>alert(1)</script>")
    assert "<script>" not in one.html


def test_what_is_too_long_is_one_passage() -> None:
    (one,) = passages("a\n" * LIMIT)
    assert (one.start, "<p" in one.html) == (1, False)


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_nothing_has_none(text: str) -> None:
    assert passages(text) == []


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        ("Say goodbye to all.", (4, 5)),
        ("to all", (5, 5)),
        ("hello.py\nand its tests", (7, 8)),
        ("Edit hello.py and its tests Run the", (7, 9)),
        ("not there", (4, 9)),
        ("", (4, 9)),
    ],
)
def test_words_are_found_in_their_lines(words: str, lines: tuple[int, int]) -> None:
    assert narrowed(TEXT, 4, 9, words) == lines

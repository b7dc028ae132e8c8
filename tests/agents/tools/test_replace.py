"""Each strategy finds what only it can, and none finds more than was meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.toolkit.base import ToolError
from agents.toolkit.shared.replace import EXACT, STRATEGIES, fitted, locate

BODY = """def one():
    first = 1
    second = compute(first)
    third = second + first
    return third
"""


def found(text: str, old: str, *, every: bool = False) -> tuple[str, list[str]]:
    strategy, spans = locate(text, old, every=every)
    return strategy.name, [text[start:stop] for start, stop in spans]


def test_the_order_is_the_seeds() -> None:
    assert [strategy.name for strategy in STRATEGIES] == [
        "simple",
        "line_trimmed",
        "block_anchor",
        "whitespace_normalized",
        "indentation_flexible",
        "escape_normalized",
        "trimmed_boundary",
        "context_aware",
        "multi_occurrence",
    ]


@pytest.mark.parametrize(
    ("strategy", "text", "old", "match"),
    [
        ("simple", "a b c", "b", "b"),
        (
            "line_trimmed",
            "if x:\n        go()\n        stop()\n",
            "go()\nstop()\n",
            "        go()\n        stop()\n",
        ),
        (
            "block_anchor",
            BODY,
            BODY.replace("compute(first)", "compute(frst)"),
            BODY,
        ),
        ("whitespace_normalized", "x = f(a,\n      b)\n", "f(a, b)", "f(a,\n      b)"),
        (
            "indentation_flexible",
            "  if x:\n    go()\n\n  if x:\n  go()\n",
            "    if x:\n      go()",
            "  if x:\n    go()",
        ),
        ("escape_normalized", 'print("a")\n', 'print(\\"a\\")', 'print("a")'),
        ("trimmed_boundary", "call(first, second)", "\n first, second \n", "first, second"),
        (
            "context_aware",
            "begin\nalpha = 1\nbeta = 2\ncompletely different words here\nend\n",
            "begin\nalpha = 1\nbeta = 2\nzzz\nend\n",
            "begin\nalpha = 1\nbeta = 2\ncompletely different words here\nend\n",
        ),
    ],
)
def test_each_strategy(strategy: str, text: str, old: str, match: str) -> None:
    assert found(text, old) == (strategy, [match])


@given(st.text(alphabet="ab \n", max_size=60), st.data())
def test_an_exact_unique_match_is_always_the_first_strategys(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    old = text[start : data.draw(st.integers(start, len(text)))]
    places = sum(text.startswith(old, at) for at in range(len(text))) if old else 0
    if places == 1:
        assert locate(text, old, every=False) == (EXACT, [(start, start + len(old))])
    elif places > 1:
        with pytest.raises(ToolError, match=f"fits {places} places"):
            locate(text, old, every=False)


def test_every_place_is_found_for_replacing_all() -> None:
    assert found("a.a.a", "a", every=True) == ("simple", ["a", "a", "a"])
    assert found("aaa", "aa", every=True) == ("simple", ["aa"])
    text = "  x = 1\n  y\n    x = 1\n    y\nmax = 10\n"
    assert found(text, "x = 1\ny", every=True) == ("line_trimmed", ["  x = 1\n  y", "    x = 1\n    y"])


def test_equally_good_places_are_not_chosen_between() -> None:
    with pytest.raises(ToolError, match=r"fits 2 places \(lines 1, 3\)"):
        locate("  go()\nx\n    go()\n", "\tgo()", every=False)
    block = "begin\n{}\nsame line of text\nanother same line\nend\n"
    twice = block.format("alpha is here") + block.format("alpha is hxxx")
    with pytest.raises(ToolError, match="fits 2 places"):
        locate(twice, block.format("alpha is herx"), every=False)


@pytest.mark.parametrize(
    "old",
    [
        "begin\nnothing at all like it\nend\n",
        "begin\nend",
        "{\nx\n}",
        " \n ",
        "first second",
    ],
)
def test_much_more_than_was_meant_is_never_found(old: str) -> None:
    text = "begin\nkeep = 'this'\nkeep = 'that'\nkeep = 'those'\nend\n{\n" + "  y = 2\n" * 20 + "}\n"
    text += "first" + "\n" * 50 + "second\n"
    with pytest.raises(ToolError, match="not in the file"):
        locate(text, old, every=False)


@pytest.mark.parametrize("old", ["bar = 1 ", " bar = 1", "bar  =  1", "bar = 1\\n"])
def test_a_loose_match_begins_and_ends_no_word_in_the_middle(old: str) -> None:
    with pytest.raises(ToolError, match="not in the file"):
        found("foobar = 1\n", old)
    assert found("foobar = 1\nbar = 1\n", old)[1] == ["bar = 1" + "\n" * old.endswith("n")]


def test_a_block_with_too_many_places_is_not_looked_for() -> None:
    record = "{{\n" + "".join(f'"field{number}": {{0}}{number},\n' for number in range(20)) + "}},\n"
    text = "".join(record.format(number) for number in range(500))
    with pytest.raises(ToolError, match="not in the file"):
        found(text, record.format("x") * 3)


def test_of_many_places_that_with_most_of_the_lines_is_found() -> None:
    blocks = ["}\n" + f"step({number});\ncall_{number}(a, b);\nend_{number}();\n" for number in range(3000)]
    wanted = blocks[700].replace("a, b", "a, c") + "}\n"
    assert found("".join(blocks) + "}\n", wanted) == ("block_anchor", [blocks[700] + "}\n"])


def test_the_error_shows_the_nearest_line() -> None:
    with pytest.raises(ToolError, match="2: def compute_total"):
        locate("import x\ndef compute_total(items):\n    pass\n", "def computeTotals(items)", every=False)


@pytest.mark.parametrize(
    ("old", "match", "new", "result"),
    [
        ("go()\n", "    go()\n", "if x:\n    go()\n", "    if x:\n        go()\n"),
        ("        go()", "    go()", "        if x:\n            go()", "    if x:\n        go()"),
        ('say(\\"a\\")', 'say("a")', 'say(\\"b\\")', 'say("b")'),
        ("\nword\n", "word", "\nother\n", "other"),
        ("go()", "    go()", "    stop()", "    stop()"),
    ],
)
def test_the_new_text_follows_the_place(old: str, match: str, new: str, result: str) -> None:
    assert fitted(old, match, new) == result

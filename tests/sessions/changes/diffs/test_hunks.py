from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from sessions.changes.diffs.hunks import FileDiff, Row, hunks, word_marks
from sessions.changes.diffs.lines import diff_text

LINES = st.lists(st.sampled_from([b"a = 1\n", b"a = 2\n", b"b\r\n", b"\n", b"\xff\n", b"tail"]), max_size=30)


def marked(row: Row) -> list[str]:
    return [row.text[start:end] for start, end in row.marks]


def test_rows_numbers_and_marks() -> None:
    before = b"head\nvalue = old_name(1)\ntail\n"
    after = b"head\nvalue = new_name(1)\nmore\ntail"
    diff = hunks(before, after, context=1)
    assert (diff.additions, diff.deletions, len(diff.hunks)) == (3, 2, 1)
    rows = diff.hunks[0].rows
    assert [(row.kind, row.old, row.new) for row in rows] == [
        ("context", 1, 1),
        ("del", 2, None),
        ("del", 3, None),
        ("add", None, 2),
        ("add", None, 3),
        ("add", None, 4),
    ]
    assert (marked(rows[1]), marked(rows[3])) == (["old_name"], ["new_name"])
    assert [row.no_newline for row in rows] == [False] * 5 + [True]
    assert list(diff.hunks[0].rows.sides()) == [
        (rows[0], rows[0]),
        (rows[1], rows[3]),
        (None, rows[4]),
        (rows[2], rows[5]),
    ]


@settings(max_examples=200)
@given(LINES, LINES)
def test_hunks_say_what_the_patch_says(before: list[bytes], after: list[bytes]) -> None:
    one, other = b"".join(before), b"".join(after)
    diff = hunks(one, other)
    lines: list[str] = []
    for hunk in diff.hunks:
        assert hunk.old_count == sum(row.kind != "add" for row in hunk.rows)
        assert hunk.new_count == sum(row.kind != "del" for row in hunk.rows)
        for row in hunk.rows:
            lines.append({"context": " ", "add": "+", "del": "-"}[row.kind] + row.text)
        split = list(hunk.rows.sides())
        assert [row for row, _ in split if row] == [row for row in hunk.rows if row.kind != "add"]
        assert [row for _, row in split if row] == [row for row in hunk.rows if row.kind != "del"]
    patch = diff_text(one.decode("latin-1"), other.decode("latin-1"), "x").split("\n")[2:-1]
    wanted = [line for line in patch if line[:1] not in "@\\"]
    assert [line.replace("\ufffd", "\xff") for line in lines] == wanted


def test_binary_is_not_taken_apart() -> None:
    assert hunks(b"\0\1", b"\0\2") == FileDiff(binary=True)
    assert hunks(b"text\n", b"te\0xt\n").binary


def test_bytes_that_differ_only_in_what_cannot_be_shown_still_differ() -> None:
    diff = hunks(b"\xff\n", b"\xfe\n")
    assert (diff.additions, diff.deletions) == (1, 1)
    assert [row.text for row in diff.hunks[0].rows] == ["\ufffd", "\ufffd"]


def test_no_marks_where_they_would_be_noise() -> None:
    assert word_marks("return a + b", "import os, sys") == ((), ())
    assert word_marks("x" * 600, "x" * 599 + "y") == ((), ())
    assert word_marks("a.b(c)", "a.b(c, d)") == ((), ((5, 8),))

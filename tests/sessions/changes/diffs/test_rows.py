from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions.changes.diffs.hunks import SMALL, Row, Rows, hunks, pairs

LINES = st.lists(
    st.sampled_from([b"a = 1\n", b"a = 2\n", b"b c d\n", b"b c e\n", b"\n", b"tail"]), max_size=25
)


def rows_of(before: bytes, after: bytes) -> Rows:
    (hunk,) = hunks(before, after).hunks
    return hunk.rows


def test_like_lines_are_paired_though_others_stand_between() -> None:
    deleted = [b"import os\n", b"def area(width, height):\n"]
    added = [b"# measures in metres\n", b"import os, sys\n", b"\n", b"def area(width, depth):\n"]
    assert pairs(deleted, added) == ((0, 1), (1, 3))
    assert pairs(added, deleted) == ((1, 0), (3, 1))
    assert pairs([b"one two\n", b"three\n"], [b"four\n", b"five six\n"]) == ()
    assert pairs([], added) == ()


def test_pairs_never_cross() -> None:
    assert len(pairs([b"first = 1\n", b"second = 2\n"], [b"second = 2;\n", b"first = 1;\n"])) == 1


def test_marks_and_sides_follow_the_pairs() -> None:
    rows = rows_of(b"keep\nvalue = old(1)\n", b"keep\n# why\nvalue = new(1)\n")
    shown = [
        (left and left.text, right and right.text, right and [right.text[a:b] for a, b in right.marks])
        for left, right in rows.sides()
    ]
    assert shown == [
        ("keep", "keep", []),
        (None, "# why", []),
        ("value = old(1)", "value = new(1)", ["new"]),
    ]


def test_a_large_block_of_equal_length_is_taken_line_by_line() -> None:
    count = SMALL
    rows = rows_of(
        b"".join(b"value %d is old\n" % n for n in range(count)),
        b"".join(b"value %d is new\n" % n for n in range(count)),
    )
    middle = rows[count + 7]
    assert (middle.kind, middle.new, middle.marks) == ("add", 8, ((11, 14),))
    left, right = next(rows.sides(9, 10))
    assert (left and left.old, right and right.new) == (10, 10)


def test_a_row_deep_in_a_hunk_is_made_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of(b"", b"".join(b"%d\n" % n for n in range(100_000)))
    made = []
    original = Rows._added

    def added(self: Rows, *rest: object) -> Row:
        made.append(rest)
        return original(self, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Rows, "_added", added)
    assert [row.text for row in rows[70_000:70_003]] == ["70000", "70001", "70002"]
    assert len(made) == 3


@settings(max_examples=200)
@given(LINES, LINES, st.integers(1, 7))
def test_pieces_put_together_are_the_whole(before: list[bytes], after: list[bytes], size: int) -> None:
    for hunk in hunks(b"".join(before), b"".join(after)).hunks:
        whole = list(hunk.rows)
        assert [row for at in range(0, len(whole), size) for row in hunk.rows[at : at + size]] == whole
        assert [hunk.rows[index] for index in range(len(whole))] == whole
        sides = list(hunk.rows.sides())
        slots = range(0, hunk.rows.slots, size)
        assert [pair for at in slots for pair in hunk.rows.sides(at, at + size)] == sides
        assert [row for row, _ in sides if row] == [row for row in whole if row.kind != "add"]
        assert [row for _, row in sides if row] == [row for row in whole if row.kind != "del"]


def test_rows_are_a_sequence() -> None:
    rows = rows_of(b"a\n", b"b\n")
    assert rows[-1] == rows[1]
    with pytest.raises(IndexError):
        rows[2]
    assert rows[5:9] == ()

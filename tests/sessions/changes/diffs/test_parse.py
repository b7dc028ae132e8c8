"""A patch read back gives the rows that comparing the contents gives."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sessions.changes.diffs.hunks import hunks, parse
from sessions.changes.diffs.lines import diff_text

LINES = st.lists(st.sampled_from(["", "a", "-- b", "++ c", "@@ -1 +1 @@", "\\ d", "the same words here"]))
TEXT = st.builds(lambda lines, end: "\n".join(lines) + end, LINES, st.sampled_from(["", "\n"]))


@given(TEXT, TEXT)
def test_round_trip(before: str, after: str) -> None:
    compared = hunks(before.encode(), after.encode())
    read = parse(diff_text(before, after, "name"))
    assert (read.additions, read.deletions) == (compared.additions, compared.deletions)
    assert [list(hunk.rows) for hunk in read.hunks] == [list(hunk.rows) for hunk in compared.hunks]


def test_what_is_no_patch_has_no_hunks() -> None:
    assert parse("").hunks == ()
    assert parse("\\ Too long to show: 3 lines become 4.\n").hunks == ()
    assert parse("@@ -1 +1 @@\n-a\n+b\n\\ 7 more lines of this diff are not shown\n").truncated

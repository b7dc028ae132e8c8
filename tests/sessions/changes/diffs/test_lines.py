from __future__ import annotations

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from sessions.changes.diffs.hunks import hunks
from sessions.changes.diffs.lines import Lines, split_lines

INDEX = st.none() | st.integers(-12, 12)


@given(
    st.lists(st.sampled_from([b"a\n", b"\n", b"b\r\n", b"\xff\n", b"tail"]), max_size=10),
    st.builds(slice, INDEX, INDEX, st.none() | st.sampled_from([-2, -1, 1, 2])),
)
def test_kept_lines_are_the_lines(parts: list[bytes], part: slice) -> None:
    content = b"".join(parts)
    lines = split_lines(content)
    kept = Lines(content, lines)
    assert list(kept) == lines
    assert kept[part] == lines[part]
    assert [kept[at] for at in range(-len(lines), len(lines))] == lines * 2


def test_a_diff_that_is_kept_holds_no_line_by_itself() -> None:
    before = b"".join(b"line %d of the file\n" % number for number in range(20_000))
    after = before.replace(b"line 700 ", b"line seven hundred ")
    hunks(b"a\n", b"b\n")
    tracemalloc.start()
    try:
        diff = hunks(before, after)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(diff.hunks) == 1
    assert held < 20 * 20_000  # of both sides where each line ends; a line as an object takes 56 bytes

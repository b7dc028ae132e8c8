"""The bounded text of a terminal and its positions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sessions.terminals.terminal import Backlog


def test_positions_count_as_javascript_does() -> None:
    backlog = Backlog()
    backlog.append("é🎉x")
    assert backlog.end == 4
    assert backlog.read(1, 100) == ("🎉x", 4)
    assert backlog.read(4, 100) == ("", 4)


def test_the_oldest_goes_and_its_reader_goes_on_from_what_is_left() -> None:
    backlog = Backlog(limit=4)
    backlog.append("abcdef")
    assert (backlog.start, backlog.end) == (2, 6)
    assert backlog.read(0, 100) == ("cdef", 6)


def test_a_pair_of_surrogates_is_not_split() -> None:
    backlog = Backlog(limit=3)
    backlog.append("🎉🎉")
    assert backlog.read(0, 100) == ("🎉", 4)
    backlog.append("ab🎉")
    assert backlog.read(5, 3) == ("b🎉", 8)
    assert Backlog.read(backlog, 5, 2) == ("b", 6)


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=30)), st.integers(2, 50), st.integers(1, 9))
def test_a_reader_that_follows_gets_everything(pieces: list[str], limit: int, most: int) -> None:
    backlog, position, got = Backlog(limit=limit), 0, ""
    for piece in "".join(pieces):
        backlog.append(piece)
        while position < backlog.end:
            text, position = backlog.read(position, most)
            got += text
        assert backlog.end - backlog.start <= limit
    assert got == "".join(pieces)

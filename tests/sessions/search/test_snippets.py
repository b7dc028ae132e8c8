"""Pieces of texts with what was found in them."""

from __future__ import annotations

from sessions.core.index.words import Term
from sessions.search.snippets import WIDTH, Piece, snippet, whole


def test_a_short_text_is_shown_whole_on_one_line() -> None:
    assert snippet("a\n  quokka\tsleeps", [Term("quokka")]) == (
        Piece("a "),
        Piece("quokka", marked=True),
        Piece(" sleeps"),
    )


def test_of_a_long_one_the_place_where_most_terms_stand() -> None:
    text = f"quokka {'x ' * 500} a quokka and a wombat {'y ' * 500}"
    found = snippet(text, [Term("quokka"), Term("wombat")])
    assert found[0] == found[-1] == Piece("…")
    assert [piece.text for piece in found if piece.marked] == ["quokka", "wombat"]
    assert sum(len(piece.text) for piece in found) <= WIDTH + 2


def test_without_terms_the_beginning() -> None:
    assert snippet("x" * 500, []) == (Piece("x" * WIDTH), Piece("…"))
    assert snippet("", [Term("a")]) == ()


def test_terms_that_overlap_are_marked_once() -> None:
    assert whole("getUser", [Term("getUser"), Term("user")]) == (Piece("getUser", marked=True),)


def test_what_acts_on_a_page_is_written_out() -> None:
    (piece,) = snippet("a\u202eb", [])
    assert "\u202e" not in piece.text

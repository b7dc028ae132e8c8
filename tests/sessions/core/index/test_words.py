"""Words as the index has them, and as a person finds them."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sessions.core.index.words import LONGEST, Lookup, Term, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Read the FILE.", {"read", "the", "file"}),
        ("get_user_name", {"get_user_name", "user_name", "name"}),
        ("getUserName()", {"getusername", "username", "name"}),
        ("HTTPServer", {"httpserver", "server"}),
        ("in_db", {"in_db", "db", "in"}),
        ("xY_z", {"xy_z", "y_z", "z", "x", "y", "xy"}),
        ("src/auth/login.py", {"src", "auth", "login", "py"}),
        ("__init__", {"init"}),
        ("Änderung", {"änderung"}),
        ("大数据库", {"大数", "数据", "据库", "库"}),
        ("用Python写", {"用", "python", "写"}),
        ("-> += {}", set()),
    ],
)
def test_words_of_a_text(text: str, expected: set[str]) -> None:
    assert words(text) == expected


def test_what_is_long_counts_by_its_beginning() -> None:
    assert words("x" * 1000) == {"x" * LONGEST}


@pytest.mark.parametrize(
    ("term", "text", "found"),
    [
        ("perm", "the permission", ["perm"]),
        ("mission", "the permission", []),
        ("user", "get_user getUser superuser USERS", ["user", "User", "USER"]),
        ("getuser", "x.getUserName()", ["getUser"]),
        ("server", "HTTPServer", ["Server"]),
        ("id", "id user_id idle", ["id", "id"]),
        ("is not", "it is\n  not", ["is\n  not"]),
        ("foo.bar", "a foo.barn, foobar", ["foo.bar"]),
        ("数据", "大数据库", ["数据"]),
        ("数", "大数据库", ["数"]),
        ("ÄPFEL", "zwei Äpfel", ["Äpfel"]),
        ("__init__", "def __init__(self)", ["__init__"]),
    ],
)
def test_where_a_term_stands(term: str, text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in Term(term).spans(text)] == found


def test_what_is_looked_up() -> None:
    assert Term("getUser").lookups == (Lookup("getuser", begins=True),)
    assert Term("is not here").lookups == (Lookup("is"), Lookup("not"), Lookup("here", begins=True))
    assert Term("x = y").lookups == (Lookup("x"),)
    assert Term("数").lookups == (Lookup("数", begins=True),)
    assert Term("->").lookups == ()


_LETTERS = st.text("abAB12_. \n数据é", min_size=1, max_size=12)


@given(_LETTERS, _LETTERS, _LETTERS)
@example("_", "1A_", "1")
@example("", "1A", "_1")
def test_the_index_proposes_all_that_there_is(before: str, term: str, after: str) -> None:
    """A text that has a term has all the words that the term is looked up by."""
    if not term.strip():
        return
    text, looked = f"{before}{term}{after}", Term(term.strip())
    if not looked.found([text]):
        return
    has = words(text)
    for lookup in looked.lookups:
        assert any(word.startswith(lookup.word) if lookup.begins else word == lookup.word for word in has)

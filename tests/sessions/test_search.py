"""Which files a few letters mean."""

from __future__ import annotations

from sessions.search import rank

NAMES = ["docs/user/readme.md", "src/user.py", "other/superuser.py", "unrelated.txt", "u/s/e/r^].txt"]


def test_the_own_name_of_a_file_comes_first() -> None:
    assert rank(NAMES, "User", 4) == ["src/user.py", "other/superuser.py", "docs/user/readme.md", NAMES[4]]


def test_letters_that_mean_something_to_a_regular_expression_are_letters() -> None:
    assert rank(NAMES, "us^]", 5) == [NAMES[4]]
    assert rank(NAMES, ".*", 5) == []


def test_a_long_query_does_not_go_back_and_forth() -> None:
    assert rank(["a" * 4000], "a" * 200 + "b", 5) == []

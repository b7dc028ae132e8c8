"""Comments: where their lines are now, and what the agent is sent."""

from __future__ import annotations

from sessions.core.models import ReviewComment
from sessions.web.comments import Place, lines_of, place, prompt_text

CONTENT = b"one\ntwo\nthree\ntwo\nfive"


def comment(code: str, start: int, end: int, *, side: str = "new", text: str = "Why?") -> ReviewComment:
    return ReviewComment(path="src/a.py", side=side, start=start, end=end, code=code, text=text)


def test_lines_of_a_range_and_beyond_the_file() -> None:
    assert lines_of(CONTENT, 2, 3) == "two\nthree\n"
    assert lines_of(CONTENT, 5, 9) == "five"
    assert lines_of(CONTENT, 9, 12) == ""
    assert lines_of(None, 1, 1) == ""


def test_a_comment_follows_its_lines_to_the_nearest_place() -> None:
    assert place(comment("two\n", 2, 2), CONTENT) == Place(2, 2, outdated=False)
    assert place(comment("two\n", 5, 5), CONTENT) == Place(4, 4, outdated=False)
    assert place(comment("three\ntwo\n", 1, 2), CONTENT) == Place(3, 4, outdated=False)


def test_a_comment_whose_lines_have_gone_is_outdated() -> None:
    assert place(comment("gone\n", 2, 2), CONTENT) == Place(2, 2, outdated=True)
    assert place(comment("two\n", 7, 7), b"") == Place(1, 1, outdated=True)
    assert place(comment("", 1, 1), CONTENT).outdated


def test_the_prompt_names_file_lines_code_and_words() -> None:
    old = comment("```\n", 9, 9, side="old", text="Keep it.")
    said = prompt_text([comment("two\nthree\n", 2, 3), old], "Hm.")
    assert said == (
        "Hm.\n\n"
        "src/a.py, lines 2-3:\n```\ntwo\nthree\n```\nWhy?\n\n"
        "src/a.py, line 9 (as it was before your change):\n````\n```\n````\nKeep it."
    )

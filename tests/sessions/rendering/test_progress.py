from __future__ import annotations

import pytest

from sessions.rendering.tools import Progress, progress_of


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ({"done": 1, "total": 4, "message": "Reading"}, Progress(25, "Reading (1 of 4)")),
        ({"done": 2.5, "total": 10}, Progress(25, "2.5 of 10")),
        ({"done": 9, "total": 4}, Progress(100, "9 of 4")),
        ({"done": 3, "total": None, "message": ""}, Progress(None, "3")),
        ({"done": 3, "total": 0, "message": "Still at it"}, Progress(None, "Still at it")),
        ({"done": float("inf"), "total": 4, "message": "\u202ea"}, Progress(None, "\\u202ea")),
        ({"done": "1", "total": []}, Progress(None, "")),
    ],
)
def test_what_a_tool_says_of_its_progress(said: dict[str, object], shown: Progress) -> None:
    assert progress_of({"progress": said}) == shown


def test_most_tools_say_nothing() -> None:
    assert progress_of({}) is None
    assert progress_of({"progress": 3}) is None

"""The line of a turn: what was done, counted."""

from __future__ import annotations

import pytest

from sessions.core.store.turns import Deed
from sessions.rendering.deeds import deeds_html, took, words

PATCH = "*** Begin Patch\n*** Update File: b.py\n*** Add File: c.py\n*** End Patch"


def did(tool: str, subject: str = "", status: str = "completed", start: int = 0, end: int = 0) -> Deed:
    return Deed(tool, status, subject, start, end)


@pytest.mark.parametrize(
    ("deeds", "line"),
    [
        ([], ""),
        ([did("")], "Thought"),
        ([did(""), did("read", "a.py"), did("read", "a.py")], "Read 1 file"),
        ([did("read", "a.py"), did("edit", "b.py"), did("apply_patch", PATCH)], "Read 1 file, edited 2"),
        ([did("write", "a.py"), did("bash"), did("bash")], "Edited 1 file, ran 2 commands"),
        ([did("grep"), did("glob"), did("webfetch")], "Searched 2 times, looked up 1 page"),
        ([did("task"), did("todowrite"), did("question")], "Sent 1 subagent, made 1 other call"),
        ([did("bash"), did("read", "a.py", "error")], "Read 1 file, ran 1 command, 1 failed"),
    ],
)
def test_what_was_done_is_counted(deeds: list[Deed], line: str) -> None:
    assert words(deeds) == line


def test_what_ran_at_the_same_time_counts_once_and_waiting_does_not() -> None:
    deeds = [
        did("bash", start=1000, end=5000),
        did("bash", start=2000, end=6000),
        Deed("bash", "", "", 9, None),
    ]
    assert took(deeds, ()) == 5000
    assert took(deeds, [(3000, 4000), (7000, 9000)]) == 4000


def test_a_turn_without_deeds_has_an_empty_place() -> None:
    assert deeds_html("msg_1", ()).strip().endswith("data-holds></div>")

"""Edits of a language server, made in a text."""

from __future__ import annotations

from typing import Any

import pytest

from agents.servers.lsp.types import Failed
from agents.servers.lsp.uses.edits import edited


def edit(start: tuple[int, int], end: tuple[int, int], text: str) -> dict[str, Any]:
    places = [{"line": line, "character": character} for line, character in (start, end)]
    return {"range": {"start": places[0], "end": places[1]}, "newText": text}


@pytest.mark.parametrize(
    ("text", "edits", "made"),
    [
        ("one\ntwo\n", [edit((0, 0), (0, 3), "1"), edit((1, 0), (1, 3), "2")], "1\n2\n"),
        ("one\ntwo\n", [edit((1, 0), (1, 3), "2"), edit((0, 0), (0, 3), "1")], "1\n2\n"),
        ("ab", [edit((0, 1), (0, 1), "x"), edit((0, 1), (0, 1), "y")], "axyb"),
        ("😀😃z", [edit((0, 2), (0, 4), "y")], "😀yz"),
        ("one", [edit((5, 0), (9, 9), "\nend")], "one\nend"),
        ("one\ntwo", [edit((0, 99), (1, 0), " ")], "one two"),
        ("same", [], "same"),
    ],
)
def test_edits_are_about_the_text_as_it_is(text: str, edits: list[Any], made: str) -> None:
    assert edited(text, edits) == made


@pytest.mark.parametrize(
    "edits",
    [
        [edit((0, 0), (0, 3), "x"), edit((0, 2), (0, 4), "y")],
        [edit((0, 3), (0, 1), "x")],
        [{"newText": "x"}],
        ["nonsense"],
    ],
)
def test_what_makes_no_sense_is_refused(edits: list[Any]) -> None:
    with pytest.raises(Failed):
        edited("one two", edits)

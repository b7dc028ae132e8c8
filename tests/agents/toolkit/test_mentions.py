"""Texts name no tool that is not offered."""

from __future__ import annotations

import pytest

from agents.toolkit.mentions import fitting
from agents.toolkit.names import NAMES


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("Use `read`. Use `task` for more. Done.", "Use `read`. Done."),
        ("- Wide: `task` searches; nothing else does.\n- Look.", "- Look."),
        ("- `task` searches.\n- Look.", "- Look."),
        ("1. `task` it. Look.\n\nEnd.", "1. Look.\n\nEnd."),
        ("`src` and task are no tools.", "`src` and task are no tools."),
    ],
)
def test_sentences_with_tools_that_are_not_offered_go(text: str, made: str) -> None:
    assert fitting(text, NAMES - {"task"}) == made
    assert fitting(text, NAMES) == text

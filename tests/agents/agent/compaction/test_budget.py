"""The reserve, and when the window is full or a compaction is of no use."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agents.agent.compaction.estimate import Budget, budget
from agents.agent.compaction.overflow import is_stuck, used
from agents.config.schema import CompactionConfig
from tests.agents.agent.compaction.history import MODEL, History

NOTHING = CompactionConfig()


@pytest.mark.parametrize(
    ("limits", "reserved", "usable"),
    [
        ({"context": 200_000, "output": 8_192}, None, 191_808),
        ({"context": 200_000, "output": 64_000}, None, 168_000),
        ({"context": 400_000, "input": 272_000, "output": 128_000}, None, 252_000),
        ({"context": 4_096, "output": 8_192}, None, 3_072),
        ({"context": 200_000, "output": 8_192}, 50_000, 150_000),
        ({"context": 4_096, "output": 8_192}, 20_000, 2_048),
        ({"context": 200_000, "output": 8_192}, 0, 200_000),
    ],
)
def test_what_is_usable(limits: dict[str, Any], reserved: int | None, usable: int) -> None:
    found = budget(replace(MODEL, **limits), CompactionConfig(reserved=reserved))
    assert found.usable == usable


def test_the_last_step_counts_and_what_was_pruned_since_is_taken_off() -> None:
    history = History()
    history.prompt()
    history.step("", ("bash", "x" * 4_000), tokens=90_000)
    assert used(history.entries, MODEL) == 90_000
    history.entries[1]["parts"][0]["state"]["time"]["compacted"] = 3
    assert used(history.entries, MODEL) == 89_000
    history.step("Done.", tokens=89_500)
    history.entries[2]["info"]["time"]["completed"] = 4
    assert used(history.entries, MODEL) == 89_500


def test_nothing_is_known_before_a_step_and_right_after_a_compaction() -> None:
    history = History()
    history.prompt("x" * 4_000_000)
    assert used(history.entries, MODEL) == 0
    history.step("Done.", tokens=190_000)
    history.compaction("SUMMARY")
    assert used(history.entries, MODEL) == 0


def test_a_provider_that_does_not_count_is_estimated() -> None:
    history = History()
    history.prompt("x" * 4_000)
    history.step("", ("bash", "y" * 8_000), tokens=0)
    assert 3_000 <= used(history.entries, MODEL) < 3_050


def test_one_compaction_may_follow_another_after_work() -> None:
    history = History()
    history.prompt()
    history.step(tokens=9_000)
    history.compaction("ONE")
    for tokens in (2_000, 9_000):
        history.step(tokens=tokens)
    assert not is_stuck(history.entries, 8_000)


def test_a_compaction_that_did_not_help_is_the_last() -> None:
    history = History()
    history.prompt()
    history.compaction("ONE")
    history.prompt("Go on.", synthetic=True)
    assert is_stuck(history.entries, 8_000), "the next request did not fit"
    history.step(tokens=9_000)
    assert is_stuck(history.entries, 8_000), "it is as full as before"
    history.prompt("Something else.")
    assert not is_stuck(history.entries, 8_000), "a person's prompt has a try of its own"


def test_three_compactions_with_a_step_each_are_a_loop() -> None:
    history = History()
    history.prompt()
    for number in range(3):
        assert not is_stuck(history.entries, 8_000), number
        history.compaction("AGAIN")
        history.step(tokens=2_000)
    assert is_stuck(history.entries, 8_000)


def test_words_name_the_numbers() -> None:
    assert "3,072" in Budget(4_096, 1_024).words()
    assert "4,096" in Budget(4_096, 1_024).words()

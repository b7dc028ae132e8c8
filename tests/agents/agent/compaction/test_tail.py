"""What is summed up and what stays."""

from __future__ import annotations

from pathlib import Path

from agents.agent.compaction.tail import Plan, plan
from agents.config.schema import CompactionConfig, Config
from tests.agents.agent.compaction.history import MODEL, History, texts
from tests.agents.tools.context import turn_in

HERE = Path("/")


def planned(history: History, *, goes_on: bool = True, **config: int) -> Plan:
    turn = turn_in(HERE, HERE, model=MODEL, config=Config(compaction=CompactionConfig(**config)))
    return plan(history.entries, turn, goes_on=goes_on)


def turns(count: int, size: int = 1) -> History:
    history = History()
    for number in range(count):
        history.prompt(f"P{number}" + "x" * size)
        history.step(f"A{number}")
    return history


def test_two_turns_stay_by_default() -> None:
    found = planned(turns(4))
    assert texts(list(found.kept)) == ["P2x", "A2", "P3x", "A3"]
    assert found.count == 4
    assert found.tail_start_id == "msg_005"


def test_turns_and_tokens_are_configurable() -> None:
    assert planned(turns(4), tail_turns=0).tail_start_id is None
    assert planned(turns(4), tail_turns=3).count == 2
    assert planned(turns(4, size=4_000), preserve_recent_tokens=1_500).count == 6
    assert planned(turns(4, size=40_000)).count == 8


def test_something_is_always_left_to_sum_up() -> None:
    assert planned(turns(2)).count == 4
    assert planned(turns(2)).tail_start_id is None


def test_what_nobody_answered_stays_whatever_its_size() -> None:
    history = turns(1)
    history.prompt("Q" * 400_000)
    history.failed()
    history.prompt("And this.")
    found = planned(history, tail_turns=0)
    assert found.unanswered
    assert found.tail_start_id == "msg_003"
    assert found.count == 2


def test_a_prompt_that_is_being_worked_on_is_summed_up() -> None:
    history = turns(1)
    history.prompt("Work.")
    history.step("Working.", ("read", "y" * 80_000))
    found = planned(history)
    assert not found.unanswered
    assert found.kept == []


def test_the_last_steps_of_a_long_turn_stay_with_its_prompt() -> None:
    history = turns(1)
    history.prompt("Work.")
    for number in range(10):
        history.step(f"S{number}", ("read", "y" * 6_000))
    found = planned(history, preserve_recent_tokens=5_000)
    assert texts(list(found.kept)) == ["S7", "S8", "S9"]
    assert found.prompt is not None
    assert texts([found.prompt]) == ["Work."]
    assert found.count == 2 + 1 + 7
    assert planned(history, tail_turns=0).kept == []
    small = planned(history, preserve_recent_tokens=1_000)
    assert (small.kept, small.prompt) == ([], found.prompt)
    assert planned(history, goes_on=False, preserve_recent_tokens=1_000).prompt is None


def test_a_turn_that_is_short_by_its_texts_keeps_two_steps() -> None:
    history = History()
    history.prompt("Work.")
    for number in range(4):
        history.step(f"S{number}")
    found = planned(history)
    assert texts(list(found.kept)) == ["S2", "S3"]
    assert texts(list(found.summed_up)) == ["Work.", "S0", "S1"]
    assert planned(history, tail_turns=0).kept == []


def test_a_prompt_that_is_carried_begins_no_turn_and_goes_along() -> None:
    history = History()
    one = history.prompt("Work.")
    history.step("S0")
    first = history.step("S1")
    history.compaction("SUMMARY", tail=first, prompt=one)
    on = history.prompt("Go on.", synthetic=True)
    history.step("S2")
    found = planned(history)
    assert found.tail_start_id == on
    assert texts(list(found.kept)) == ["Go on.", "S2"]
    assert found.prompt is not None
    assert texts([found.prompt]) == ["Work."]
    assert found.count == 1, "S1; the prompt was summed up before"


def test_a_prompt_that_is_too_long_is_left_to_the_summary() -> None:
    history = History()
    history.prompt("W" * 60_000)
    history.step("S0", ("read", "y" * 80_000))
    assert planned(history).prompt is None


def test_nothing_before_the_first_prompt() -> None:
    history = History()
    history.told("The date has changed.")
    history.prompt("Q")
    history.failed()
    assert planned(history).is_empty


def test_the_summary_before_is_summed_up_again_and_is_no_turn() -> None:
    history = turns(1)
    history.compaction("SUMMARY")
    history.prompt("P1")
    history.step("A1")
    found = planned(history)
    assert found.count == 2
    assert "SUMMARY" in texts(list(found.summed_up))

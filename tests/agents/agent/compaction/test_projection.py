"""What of a history the model is sent."""

from __future__ import annotations

from agents.agent.compaction.entries import QUESTION, is_carried, project
from tests.agents.agent.compaction.history import History, texts


def test_without_a_compaction_everything_is_sent() -> None:
    history = History()
    history.prompt("One")
    history.step("First")
    assert project(history.entries) == history.entries


def test_a_summary_takes_the_place_of_what_was_before() -> None:
    history = History()
    history.prompt("One")
    history.told("The date has changed.")
    history.step("First")
    history.compaction("SUMMARY")
    history.prompt("Two")
    assert texts(project(history.entries)) == [QUESTION, "SUMMARY", "Two"]


def test_the_end_that_was_kept_follows_the_summary() -> None:
    history = History()
    history.prompt("One")
    history.step("First")
    two = history.prompt("Two")
    history.told("The date has changed.")
    history.step("Second")
    history.compaction("SUMMARY", tail=two)
    history.step("Third")
    assert texts(project(history.entries)) == [QUESTION, "SUMMARY", "Two", "Second", "Third"]


def test_a_kept_end_inside_a_turn_follows_the_prompt_and_what_the_program_knows() -> None:
    history = History()
    one = history.prompt("One")
    history.step("First", ("read", "x"))
    second = history.step("Second", ("read", "y"))
    history.compaction("SUMMARY", tail=second, prompt=one, state="TODO")
    history.prompt("Go on.", synthetic=True)
    found = project(history.entries)
    assert texts(found) == [QUESTION, "SUMMARY", "TODO", "One", "Second", "Go on."]
    assert [is_carried(entry) for entry in found] == [False, False, True, False, False]
    history.step("Third")
    history.compaction("LATER", tail=history.entries[-1]["info"]["id"], prompt=one)
    assert texts(project(history.entries)) == [QUESTION, "LATER", "One", "Third"]


def test_an_incomplete_summary_is_no_boundary() -> None:
    history = History()
    history.prompt("One")
    history.step("First")
    history.compaction("HALF", complete=False)
    history.prompt("Two")
    assert texts(project(history.entries)) == ["One", "First", "Two"]


def test_the_last_complete_summary_counts() -> None:
    history = History()
    history.prompt("One")
    history.compaction("OLD")
    two = history.prompt("Two")
    history.compaction("NEW", tail=two)
    history.compaction("HALF", complete=False)
    assert texts(project(history.entries)) == [QUESTION, "NEW", "Two"]

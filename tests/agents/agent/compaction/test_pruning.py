"""Which outputs are cleared. A token is four bytes here."""

from __future__ import annotations

from agents.agent.compaction.relief import choose
from tests.agents.agent.compaction.history import History

TEN = "x" * 40_000
"""Ten thousand tokens."""


def cleared(history: History) -> list[str]:
    return [part["tool"] for part in choose(history.entries)[0]]


def older(*tools: tuple[str, str]) -> History:
    """A turn with calls before two others."""
    history = History()
    history.prompt()
    history.step("", *tools)
    for _ in range(2):
        history.prompt()
        history.step("Done.")
    return history


def test_the_newest_forty_thousand_tokens_stay() -> None:
    history = older(*[(f"tool{number}", TEN) for number in range(7)])
    assert choose(history.entries)[1] == 30_000
    assert cleared(history) == ["tool2", "tool1", "tool0"]


def test_too_little_is_not_worth_it() -> None:
    assert cleared(older(*[("bash", TEN)] * 5)) == []


def test_two_turns_are_protected() -> None:
    history = older()
    history.step("", *[("bash", TEN)] * 9)
    assert cleared(history) == []
    history.prompt()
    assert cleared(history) == []
    history.prompt()
    assert len(cleared(history)) == 5


def test_what_the_program_says_is_no_turn() -> None:
    history = History()
    history.prompt()
    history.step("", *[("bash", TEN)] * 9)
    for _ in range(3):
        history.prompt("Go on.", synthetic=True)
        history.step("Done.")
    assert cleared(history) == []


def test_skills_are_never_cleared() -> None:
    history = older(*[("skill", TEN)] * 20, *[("bash", TEN)] * 6)
    assert cleared(history) == ["bash", "bash"]


def test_what_was_cleared_or_summed_up_is_the_end() -> None:
    history = older(*[("bash", TEN)] * 9)
    history.entries[1]["parts"][4]["state"]["time"]["compacted"] = 5
    assert cleared(history) == []
    compacted = History()
    compacted.prompt()
    compacted.step("", *[("bash", TEN)] * 9)
    compacted.compaction("SUMMARY")
    for _ in range(3):
        compacted.prompt()
    assert cleared(compacted) == []

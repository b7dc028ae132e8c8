"""The text that is summed up."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from agents.agent.compaction import compaction
from agents.agent.compaction.compaction import Block
from tests.agents.agent.compaction.history import MODEL, History


def blocks(*texts: str) -> list[Block]:
    return [Block("Person", text) for text in texts]


def test_everything_that_was_said_and_done_is_in_it() -> None:
    history = History()
    history.prompt("Read it.")
    history.step("I do.", ("read", "the content"))
    text = compaction.text_of(compaction.blocks(history.entries, MODEL), 10_000)
    assert text.index("Read it.") < text.index("I do.") < text.index("calls read") < text.index("the content")


def test_of_a_call_the_beginning_and_the_end_are_enough() -> None:
    history = History()
    history.prompt("p" * 5_000)
    history.step("s" * 5_000, ("read", "o" * 5_000))
    text = compaction.text_of(compaction.blocks(history.entries, MODEL), 50_000)
    assert text.count("p") >= 5_000
    assert text.count("s") >= 5_000
    assert 1_500 < text.count("o") < 2_100


def test_what_fits_stays_whole_however_long_the_first_block_is() -> None:
    found = blocks("the wish", "no")
    assert compaction.text_of(found, compaction.whole_size(found)) == "[Person]\nthe wish\n\n[Person]\nno"
    found = blocks("long ago " * 100, "no")
    assert "left out" not in compaction.text_of(found, compaction.whole_size(found))
    assert compaction.text_of(blocks("the wish"), 10) == "[Person]\nthe wish"


def test_old_outputs_are_shortened_first() -> None:
    found = [
        Block("Tool", "o" * 5_000, True),
        Block("Agent", "words " * 100),
        Block("Tool", "n" * 5_000, True),
    ]
    text = compaction.text_of(found, 7_000)
    assert "bytes left out" in text
    assert text.count("o") < 700
    assert text.count("n") > 5_000
    assert "words " * 100 in text


def test_then_the_oldest_go_and_the_first_and_the_last_stay() -> None:
    found = blocks("the wish", *[f"{number} " + "x" * 500 for number in range(20)], "the end")
    text = compaction.text_of(found, 3_000)
    assert text.startswith("[Person]\nthe wish")
    assert compaction.LEFT_OUT in text
    assert "[Person]\n0 " not in text
    assert "[Person]\n19 " in text
    assert text.endswith("the end")


@settings(max_examples=60)
@given(
    st.lists(st.text(alphabet="aé€😀\n", max_size=3_000), min_size=1, max_size=8), st.integers(2_000, 9_000)
)
def test_it_is_about_as_long_as_asked_for(texts: list[str], most: int) -> None:
    assert len(compaction.text_of(blocks(*texts), most).encode()) <= most + 500

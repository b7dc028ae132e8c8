"""Deltas, rows and the final part in any order of arrival: nothing doubled, nothing lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sessions.rendering.blocks import render_whole
from sessions.rendering.streams import PartStream

WORDS = "".join(f"w{n} " + ("\n\n" if n % 5 == 0 else "") for n in range(60))


@given(st.data())
def test_whatever_arrives_the_end_is_the_whole(data: st.DataObject) -> None:
    """The row lags behind, deltas before the subscription are missed, and some come twice."""
    cuts = sorted(data.draw(st.sets(st.integers(1, len(WORDS) - 1), max_size=12)))
    deltas = [(a, WORDS[a:b]) for a, b in zip([0, *cuts], [*cuts, len(WORDS)], strict=True)]
    missed = data.draw(st.integers(0, len(deltas)))
    stream = PartStream("prt", "msg")
    start = deltas[missed][0] if missed < len(deltas) else len(WORDS)
    closed = stream.row(WORDS[: data.draw(st.integers(0, start))]).closed
    for offset, text in deltas[missed:]:
        for _ in range(data.draw(st.integers(1, 2))):
            closed += stream.delta(offset, text).closed
        if data.draw(st.booleans()):
            closed += stream.row(WORDS[: data.draw(st.integers(0, offset + len(text)))]).closed
    last = stream.finish(WORDS)
    assert last is not None
    assert closed + last.closed == render_whole(WORDS)


def test_a_gap_waits_for_the_row() -> None:
    stream = PartStream("prt", "msg")
    stream.row("one ")
    assert not stream.delta(8, "three")
    assert stream.gap
    stream.row("one two ")
    assert not stream.gap
    last = stream.finish("one two three")
    assert last is not None
    assert last.closed == render_whole("one two three")


def test_a_text_that_changed_behind_is_noticed() -> None:
    stream = PartStream("prt", "msg")
    stream.row("one two")
    assert stream.finish("one 222 three") is None

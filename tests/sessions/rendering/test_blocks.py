"""Streaming gives what rendering the whole gives, for linear work."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sessions.rendering.blocks import PARSER, BlockStream, Update, render_whole, split

PIECES = [
    "word", " ", "\n", "\n\n", "# head\n", "- item\n", "  nested\n", "1. one\n", "2. two\n", "> quote\n",
    "```py\n", "```\n", "````\n", "~~~\n", "    code\n", "\tcode\n", "|a|b|\n", "|-|-|\n", "---\n", "===\n",
    "[a]: /x\n", "**", "`", "<b>", "\r\n", "***\n", "+ x\n", "* y\n", "  \n", "```", "-", "=",
]  # fmt: skip
DOCUMENTS = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


class Clock:
    """A clock that ticks once a look, so that rendering always seems to cost something."""

    def __init__(self, tick: float) -> None:
        self.tick = tick
        self.now = 0.0

    def __call__(self) -> float:
        self.now += self.tick
        return self.now


class Reader:
    """What a browser would show."""

    def __init__(self) -> None:
        self.closed = ""
        self.open = ""
        self.grown = ""

    def apply(self, update: Update) -> None:
        self.closed += update.closed
        if update.open is not None:
            self.open, self.grown = update.open, ""
        self.grown += update.grown


def streamed(text: str, sizes: list[int], clock: Clock) -> Reader:
    stream, reader, at = BlockStream("grow", clock), Reader(), 0
    while at < len(text):
        size = sizes[at % len(sizes)]
        reader.apply(stream.feed(text[at : at + size]))
        at += size
    reader.apply(stream.close())
    return reader


@given(DOCUMENTS, st.lists(st.integers(1, 9), min_size=1, max_size=4), st.sampled_from([0.0, 0.01]))
@example("```\nx\n```\n\n    code\n", [1], 0.0)
@example("para\n|a|b|\n|-|-|\n|1|2|\nend\n", [3], 0.0)
def test_streaming_ends_as_the_whole(text: str, sizes: list[int], tick: float) -> None:
    reader = streamed(text, sizes, Clock(tick))
    assert reader.closed == render_whole(text)
    assert (reader.open, reader.grown) == ("", "")


@given(DOCUMENTS)
def test_blocks_together_are_the_text(text: str) -> None:
    assert "".join(split(text)) == text


def test_an_open_code_block_only_grows() -> None:
    stream, reader = BlockStream("grow", Clock(0.0)), Reader()
    for piece in ("```py\n", "a <", " b\n", "``", "` not yet\n", "c", "\n", "``"):
        reader.apply(stream.feed(piece))
    assert reader.closed == ""
    assert reader.grown == "a &lt; b\n``` not yet\nc\n"
    assert 'id="grow"' in reader.open
    reader.apply(stream.feed("`\n"))
    assert reader.closed == render_whole("```py\na < b\n``` not yet\nc\n```\n")
    assert reader.grown == ""


def test_held_back_text_is_shown_when_due() -> None:
    clock = Clock(1.0)
    stream = BlockStream("grow", clock)
    stream.feed("one")
    assert not stream.feed(" two")
    assert stream.behind
    clock.now += stream.due_in()
    assert "one two" in (stream.poll().open or "")
    assert not stream.behind


def test_work_is_linear_in_the_length(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted in characters handed to the parser, with time standing still (so that nothing is held back)."""
    counted = 0
    parse = PARSER.block.parse

    def counting(source: str, *rest: object) -> object:
        nonlocal counted
        counted += len(source)
        return parse(source, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(PARSER.block, "parse", counting)
    paragraphs = [f"paragraph number {n} of this text\n\n" for n in range(1000)]
    text = "".join(paragraphs) + "```\n" + "line of code\n" * 2000
    stream = BlockStream("grow", Clock(0.0))
    for at in range(0, len(text), 20):
        stream.feed(text[at : at + 20])
    assert counted < 12 * len(text)

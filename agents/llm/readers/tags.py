"""Thoughts that a model writes into its text between `<think>` and `</think>`, at its beginning."""

from __future__ import annotations

from collections.abc import Iterator

from agents.llm.types import ModelEvent, ReasoningDelta, ReasoningEnd, TextDelta

_OPEN, _CLOSE = "<think>", "</think>"


class Tags:
    """Pieces of a text in, text and reasoning out; a tag may come in pieces. Once the answer has begun
    without a tag, or the tag has been closed, all that comes is text."""

    __slots__ = ("_held", "_state")

    def __init__(self, *, on: bool) -> None:
        self._state = "begin" if on else "text"
        self._held = ""

    def feed(self, text: str) -> Iterator[ModelEvent]:
        if self._state == "text":
            yield TextDelta(text)
            return
        self._held += text
        if self._state == "begin":
            begun = self._held.lstrip()
            if begun.startswith(_OPEN):
                self._state, self._held = "opened", begun.removeprefix(_OPEN)
            elif not _OPEN.startswith(begun):
                self._state, held, self._held = "text", self._held, ""
                yield TextDelta(held)
        if self._state == "opened":
            self._held = self._held.lstrip()
            self._state = "inside" if self._held else "opened"
        if self._state == "inside":
            yield from self._inside()
        if self._state == "closed" and (text := self._held.lstrip()):
            self._state, self._held = "text", ""
            yield TextDelta(text)

    def end(self) -> Iterator[ModelEvent]:
        """What is held back, as what it was until now."""
        held, self._held = self._held, ""
        if self._state in ("opened", "inside"):
            if held:
                yield ReasoningDelta(held)
            yield ReasoningEnd()
        elif held and self._state == "begin":
            yield TextDelta(held)
        self._state = "text"

    def _inside(self) -> Iterator[ModelEvent]:
        thought, closed, rest = self._held.partition(_CLOSE)
        if closed:
            self._state, self._held = "closed", rest
            if thought:
                yield ReasoningDelta(thought)
            yield ReasoningEnd()
            return
        kept = next((n for n in range(len(_CLOSE) - 1, 0, -1) if thought.endswith(_CLOSE[:n])), 0)
        self._held = thought[len(thought) - kept :]
        if given := thought[: len(thought) - kept]:
            yield ReasoningDelta(given)

"""The last lines of what a program said, for people to read."""

from __future__ import annotations

from collections import deque

MAX_LINES = 400
MAX_LINE = 2000


class Tail:
    """Bounded, however much comes. One thread writes, any may read."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=MAX_LINES)
        self._open = b""
        self.dropped = 0
        """Lines that are gone."""

    def feed(self, data: bytes) -> None:
        """Bytes as they come, in pieces of any size."""
        *whole, rest = (self._open + data).split(b"\n")
        for line in whole:
            self.say(line.decode("utf-8", "replace"))
        self._open = rest[:MAX_LINE]

    def say(self, line: str) -> None:
        """A line of our own, or of the program's."""
        self.dropped += len(self._lines) == MAX_LINES
        self._lines.append(line.rstrip("\r")[:MAX_LINE])

    def lines(self) -> list[str]:
        rest = [self._open.decode("utf-8", "replace")] if self._open else []
        return [*self._lines, *rest]

    def last(self, count: int = 5) -> str:
        """The last lines that are not blank, as one text."""
        return "\n".join([line for line in self.lines() if line.strip()][-count:])

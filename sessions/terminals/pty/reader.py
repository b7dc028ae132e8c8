"""One who reads along with a terminal, at a pace of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from types import TracebackType
from typing import Self

from .terminal import Terminal

PIECE = 64 * 1024
"""Code units that are given at once."""


class Reader:
    """Use as `with Reader(terminal, position) as reader`.

    Without a position it begins at the oldest that is kept, with one behind the end at the end.
    """

    def __init__(self, terminal: Terminal, position: int | None) -> None:
        end = terminal.backlog.end
        self._terminal = terminal
        self.position = 0 if position is None else min(position, end)
        self._replayed = end

    def __enter__(self) -> Self:
        self._terminal.positions[self] = self.position
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        del self._terminal.positions[self]
        self._terminal.pace()

    def replay(self) -> Iterator[str]:
        """What was printed before this reader came."""
        while self.position < self._replayed:
            yield self._take()

    async def follow(self) -> AsyncIterator[tuple[str, bool]]:
        """What is printed from now on until the end, and whether something before it was missed."""
        backlog = self._terminal.backlog
        while True:
            while self.position < backlog.end:
                missed = self.position < backlog.start
                yield self._take(), missed
            if self._terminal.finished.is_set():
                return
            await self._terminal.changed()

    def _take(self) -> str:
        """What is asked for next has been handed on, so the one before counts as read."""
        self._terminal.positions[self] = self.position
        self._terminal.pace()
        text, self.position = self._terminal.backlog.read(self.position, PIECE)
        return text

    @property
    def behind(self) -> bool:
        """Whether a whole piece waits."""
        return self._terminal.backlog.end - self.position >= PIECE

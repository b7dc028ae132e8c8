"""How far something long is: a bar on a terminal, now and then a line anywhere else."""

from __future__ import annotations

from typing import TextIO

from sessions.transfer.progress import Progress
from sessions.transfer.reading.records import Problem

WIDTH = 24
EVERY = 100
"""Without a terminal a line for so many."""


class Bar:
    """Give `tell` to an import."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._drawn = False
        self._terminal = out.isatty()

    def tell(self, progress: Progress, problem: Problem | None) -> None:
        if problem is not None:
            self._line(f"  {_clean(problem.where)}: {_clean(problem.reason)}")
        elif self._terminal:
            self._draw(progress)
        elif progress.done % EVERY == 0 or progress.done == progress.total:
            self._line(f"{progress.done:,} of {progress.total:,} sessions")

    def end(self) -> None:
        self._clear()
        self._out.flush()

    def _draw(self, progress: Progress) -> None:
        filled = WIDTH * progress.done // max(progress.total, 1)
        bar = "█" * filled + "·" * (WIDTH - filled)
        self._out.write(f"\r\x1b[K{bar} {progress.done:,}/{progress.total:,} {_clean(progress.current)[:40]}")
        self._out.flush()
        self._drawn = True

    def _line(self, text: str) -> None:
        self._clear()
        self._out.write(f"{text}\n")

    def _clear(self) -> None:
        if self._drawn:
            self._out.write("\r\x1b[K")
            self._drawn = False


def _clean(text: str) -> str:
    """Titles and names are other people's: nothing in them acts on the terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)

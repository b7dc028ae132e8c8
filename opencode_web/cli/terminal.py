"""Speaking to the person at the terminal, and stopping with a sentence."""

from __future__ import annotations

import sys
from argparse import ArgumentTypeError
from collections.abc import Callable, Sequence
from unicodedata import category, east_asian_width


def say(text: str) -> None:
    """A line of the answer, at once: whoever started us may be waiting for it in a pipe."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def complain(text: str) -> None:
    sys.stderr.write(f"opencode-web: {text}\n")


class Stop(Exception):
    """The text is for the user; `status` is the exit status (2: what was asked for makes no sense)."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


def whole(low: int, high: int) -> Callable[[str], int]:
    """The type of an argument that is a whole number within bounds, for argparse."""

    def read(text: str) -> int:
        if not text.removeprefix("-").isdecimal() or len(text) > 20 or not low <= int(text) <= high:
            raise ArgumentTypeError(f"a number from {low} to {high}, not {text!r}")
        return int(text)

    return read


_WIDE = "WF"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print columns that are as wide as their widest cell; nothing hostile in a cell reaches the terminal."""
    shown = [[plain(cell) for cell in row] for row in (head, *rows)]
    widths = [max(map(_width, column)) for column in zip(*shown, strict=True)]
    for number, row in enumerate(shown):
        padded = (cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True))
        say("  ".join(padded).rstrip())
        if number == 0:
            say("─" * (sum(widths) + 2 * (len(widths) - 1)))


def plain(text: str) -> str:
    """One line without control characters: a title is the model's text."""
    return "".join(letter for letter in " ".join(text.split()) if category(letter)[0] != "C")


def _width(text: str) -> int:
    return sum(2 if east_asian_width(letter) in _WIDE else 1 for letter in text)

"""Rows as a table for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import category, east_asian_width

from opencode_web.cli.terminal import say

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

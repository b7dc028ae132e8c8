"""Finding the text an edit means, and fitting the new text to it. Source: seed 004 §6.3.

The strategies are tried in order. One wins when what it finds is exactly one place (any number of places
when all are to be replaced); otherwise the next, looser or stricter, has its turn.
"""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from agents.tools.base import ToolError
from agents.tools.shared.filetext import Span
from agents.tools.shared.replacers import blocks
from agents.tools.shared.replacers import text as pieces

SHOWN = 10
COMPARED_LINES = 20_000


@dataclass(frozen=True, slots=True)
class Strategy:
    """`whole_lines`: its candidates count only where they fill their lines."""

    candidates: Callable[[str, str], Iterator[str]]
    whole_lines: bool = False

    @property
    def name(self) -> str:
        return self.candidates.__name__


EXACT = Strategy(pieces.simple)
STRATEGIES = (
    EXACT,
    Strategy(blocks.line_trimmed, whole_lines=True),
    Strategy(blocks.block_anchor, whole_lines=True),
    Strategy(pieces.whitespace_normalized),
    Strategy(blocks.indentation_flexible, whole_lines=True),
    Strategy(pieces.escape_normalized),
    Strategy(pieces.trimmed_boundary),
    Strategy(blocks.context_aware, whole_lines=True),
    Strategy(pieces.multi_occurrence),
)


def locate(text: str, old: str, *, every: bool) -> tuple[Strategy, list[Span]]:
    """Where `old` is in `text` (LF), and the strategy that found it.

    Raises ToolError when it is nowhere or, unless `every`, in several places. Several exact matches are
    never narrowed down by a looser strategy.
    """
    several: list[Span] = []
    for strategy in STRATEGIES:
        spans = _spans(strategy, text, old)
        if len(spans) == 1 or (spans and every):
            return strategy, _apart(spans)
        several = several or spans
        if several and strategy is EXACT:
            break
    raise _ambiguous(text, several) if several else _absent(text, old)


def fitted(old: str, found: str, new: str) -> str:
    """The new text, changed in the way in which the found text differs from the text asked for."""
    if found == old:
        return new
    if found == pieces.unescape(old):
        return pieces.unescape(new)
    if found == old.strip() and _margins(old) == _margins(new):
        return new.strip()
    return _shifted(old, found, new)


def _spans(strategy: Strategy, text: str, old: str) -> list[Span]:
    spans: set[Span] = set()
    for candidate in dict.fromkeys(strategy.candidates(text, old)):
        if strategy is EXACT or _proportionate(candidate, old):
            spans.update(_occurrences(text, candidate, strategy.whole_lines))
    return sorted(spans)


def _occurrences(text: str, piece: str, whole_lines: bool) -> Iterator[Span]:
    start = text.find(piece)
    while start >= 0:
        stop = start + len(piece)
        begins = start == 0 or text[start - 1] == "\n"
        ends = stop == len(text) or text[stop] == "\n" or piece.endswith("\n")
        if not whole_lines or (begins and ends):
            yield start, stop
        start = text.find(piece, start + 1)


def _apart(spans: list[Span]) -> list[Span]:
    """The spans without those that overlap an earlier one."""
    kept: list[Span] = []
    for span in spans:
        if not kept or span[0] >= kept[-1][1]:
            kept.append(span)
    return kept


def _proportionate(candidate: str, old: str) -> bool:
    """Whether a candidate is about as much text as was asked for."""
    have, want = len("".join(candidate.split())), len("".join(old.split()))
    lines, wanted = candidate.count("\n") + 1, old.count("\n") + 1
    return want // 2 <= have <= want * 3 // 2 + 20 and lines <= wanted * 3 // 2 + 3


def _margins(text: str) -> tuple[str, str]:
    return text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]


def _shifted(old: str, found: str, new: str) -> str:
    """`new` moved right or left as `found` is against `old`, if that is all by which these two differ."""
    first_old, first_new, first_found = map(_first_margin, (old, new, found))
    if first_old != first_new or first_found == first_old:
        return new
    if first_found.endswith(first_old):
        added = first_found.removesuffix(first_old)
        return textwrap.indent(new, added) if textwrap.indent(old, added).strip() == found.strip() else new
    if first_old.endswith(first_found):
        removed = first_old.removesuffix(first_found)
        same = textwrap.indent(found, removed).strip() == old.strip()
        return _outdented(new, removed) if same else new
    return new


def _first_margin(text: str) -> str:
    line = next((line for line in text.split("\n") if line.strip()), "")
    return line[: len(line) - len(line.lstrip())]


def _outdented(text: str, margin: str) -> str:
    return "\n".join(line.removeprefix(margin) for line in text.split("\n"))


def line_of(text: str, offset: int) -> int:
    """The number, from 1, of the line an offset is in."""
    return text.count("\n", 0, offset) + 1


def _ambiguous(text: str, spans: list[Span]) -> ToolError:
    lines = ", ".join(str(line_of(text, start)) for start, _ in spans[:SHOWN])
    more = ", ..." if len(spans) > SHOWN else ""
    return ToolError(
        f"oldString fits {len(spans)} places (lines {lines}{more}). Give more lines around the one you mean, "
        "or set replaceAll to change all of them."
    )


def _absent(text: str, old: str) -> ToolError:
    near = _nearest(text, old)
    hint = f" The most similar lines are:\n{near}" if near else ""
    return ToolError(f"oldString is not in the file. Read the part again and copy it exactly.{hint}")


def _nearest(text: str, old: str) -> str:
    """Up to three lines of the file that look like the first line asked for."""
    wanted = next((line.strip() for line in old.split("\n") if line.strip()), "")[:500]
    numbers: dict[str, int] = {}
    for number, line in enumerate(text.split("\n")[:COMPARED_LINES], 1):
        numbers.setdefault(line.strip()[:500], number)
    close = difflib.get_close_matches(wanted, numbers, n=3, cutoff=0.5)
    return "\n".join(f"{numbers[line]}: {line}" for line in close)

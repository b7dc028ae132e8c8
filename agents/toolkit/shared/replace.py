"""Finding the text an edit means, and fitting the new text to it.

The strategies are tried in order. One wins when what it finds is exactly one place (any number of places
when all are to be replaced); otherwise the next, looser or stricter, has its turn.
"""

from __future__ import annotations

import difflib
import re
import textwrap
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice
from textwrap import dedent

from agents.toolkit.base import ToolError
from sessions.core.filetext import Span

SHOWN = 10
_IN_WORD = re.compile(r"(?<=\w)(?=\w)")
COMPARED_LINES = 5_000
COMPARED_WIDTH = 120


@dataclass(frozen=True, slots=True)
class Strategy:
    """`whole_lines`: its candidates count only where they fill their lines."""

    candidates: Callable[[str, str], Iterator[str]]
    whole_lines: bool = False

    @property
    def name(self) -> str:
        return self.candidates.__name__


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
    if found == unescape(old):
        return unescape(new)
    if found == old.strip() and _margins(old) == _margins(new):
        return new.strip()
    return _shifted(old, found, new)


def _spans(strategy: Strategy, text: str, old: str) -> list[Span]:
    spans: set[Span] = set()
    for candidate in dict.fromkeys(strategy.candidates(text, old)):
        if strategy is EXACT or _proportionate(candidate, old):
            spans.update(_occurrences(text, candidate, strategy.whole_lines))
    if strategy is not EXACT:
        spans = {span for span in spans if not any(_IN_WORD.match(text, at) for at in span)}
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
    wanted = next((line.strip() for line in old.split("\n") if line.strip()), "")[:COMPARED_WIDTH]
    numbers: dict[str, int] = {}
    for number, line in enumerate(text.split("\n")[:COMPARED_LINES], 1):
        numbers.setdefault(line.strip()[:COMPARED_WIDTH], number)
    close = difflib.get_close_matches(wanted, numbers, n=3, cutoff=0.5)
    return "\n".join(f"{numbers[line]}: {line}" for line in close)


# Strategies that look for a block of whole lines.

ANCHORED_SIMILARITY = 0.7
CONTEXT_SIMILARITY = 0.5
LEAD = 0.1
"""By how much a block must be more like the text than another one to be preferred."""
COMPARED_CHARACTERS = 4000
MOST_LINES = 12_000
"""Lines that are compared in all the places that have a block's first and last line."""
MOST_PLACES = 5_000

Scored = tuple[float, str]


def line_trimmed(text: str, old: str) -> Iterator[str]:
    """Lines that are equal but for white space at their ends."""
    lines, wanted = text.split("\n"), _trimmed(_wanted(old))
    if any(wanted):
        for start in _starts(_trimmed(lines), wanted):
            yield _block(lines, start, start + len(wanted), old)


def indentation_flexible(text: str, old: str) -> Iterator[str]:
    """Lines that are equal but for an indentation they have in common."""
    lines, wanted = text.split("\n"), _wanted(old)
    if not any(map(str.strip, wanted)):
        return
    flat = dedent("\n".join(wanted))
    for start in _starts(_trimmed(lines), _trimmed(wanted)):
        stop = start + len(wanted)
        if dedent("\n".join(lines[start:stop])) == flat:
            yield _block(lines, start, stop, old)


def block_anchor(text: str, old: str) -> Iterator[str]:
    """A block with the same first and last line, about as long, and alike between them."""
    lines, wanted = text.split("\n"), _trimmed(_wanted(old))
    if len(wanted) < 3 or not (wanted[0] and wanted[-1]):
        return
    trimmed, most = _trimmed(lines), max(MOST_LINES // len(wanted), 1)
    places = list(islice(_anchored(trimmed, wanted), MOST_PLACES + 1))
    if most < len(places) <= MOST_PLACES:
        known = Counter(wanted)
        places = [
            (start, stop)
            for start, stop in places
            if (known & Counter(trimmed[start:stop])).total() * 2 >= len(wanted)
        ]
    if len(places) > most:  # none of so many would stand out
        return
    scored = [
        (
            _similarity(trimmed[start + 1 : stop - 1], wanted[1:-1]),
            _block(lines, start, stop, old),
        )
        for start, stop in places
    ]
    yield from _best(scored, ANCHORED_SIMILARITY)


def _anchored(lines: list[str], wanted: list[str]) -> Iterator[Span]:
    """Blocks, about as long, with the same first and last line."""
    slack = max(1, len(wanted) // 4)
    least, most = max(2, len(wanted) - slack), len(wanted) + slack
    ends = [at for at, line in enumerate(lines, 1) if line == wanted[-1]]
    for start in (at for at, line in enumerate(lines) if line == wanted[0]):
        for at in range(bisect_left(ends, start + least), bisect_right(ends, start + most)):
            yield start, ends[at]


def context_aware(text: str, old: str) -> Iterator[str]:
    """A block of as many lines with the same first and last line and over half of the others equal."""
    lines, wanted = text.split("\n"), _trimmed(_wanted(old))
    size = len(wanted)
    if size < 3 or not (wanted[0] and wanted[-1]):
        return
    trimmed, scored = _trimmed(lines), []
    for start in range(len(lines) - size + 1):
        if trimmed[start] == wanted[0] and trimmed[start + size - 1] == wanted[-1]:
            pairs = zip(trimmed[start + 1 : start + size - 1], wanted[1:-1], strict=True)
            body = [have == want for have, want in pairs if have or want]
            scored.append((sum(body) / max(len(body), 1), _block(lines, start, start + size, old)))
    yield from _best(scored, CONTEXT_SIMILARITY)


def _wanted(old: str) -> list[str]:
    return old.removesuffix("\n").split("\n")


def _trimmed(lines: list[str]) -> list[str]:
    return [line.strip() for line in lines]


def _starts(lines: list[str], wanted: list[str]) -> Iterator[int]:
    """Where the lines wanted stand one after the other."""
    size = len(wanted)
    for start in range(len(lines) - size + 1):
        if lines[start] == wanted[0] and lines[start : start + size] == wanted:
            yield start


def _block(lines: list[str], start: int, stop: int, old: str) -> str:
    """The text of some lines, with the line break after them if the text wanted has one."""
    ending = "\n" if old.endswith("\n") and stop < len(lines) else ""
    return "\n".join(lines[start:stop]) + ending


def _similarity(have: list[str], want: list[str]) -> float:
    """From 0 to 1; by characters for short blocks, by lines for long ones."""
    one, other = "\n".join(have), "\n".join(want)
    if len(one) + len(other) > COMPARED_CHARACTERS:
        return SequenceMatcher(None, have, want, autojunk=False).ratio()
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    return 0.0 if matcher.quick_ratio() < ANCHORED_SIMILARITY else matcher.ratio()


def _best(scored: list[Scored], threshold: float) -> Iterator[str]:
    """The block most alike, with those nearly as much alike: then the choice is not ours."""
    top = max((score for score, _ in scored), default=0.0)
    for score, block in scored:
        if score > threshold and score >= top - LEAD:
            yield block


# Strategies that look for a piece of text, wherever in a line it begins.

ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\n": "\n"}
ESCAPED = re.compile(r"\\(n|t|r|'|\"|`|\\|\n|\$)")


def simple(text: str, old: str) -> Iterator[str]:
    """The text as it was given."""
    if old in text:
        yield old


def whitespace_normalized(text: str, old: str) -> Iterator[str]:
    """The same words with other white space between them."""
    words = old.split()
    if not words:
        return
    pattern = r"\s+".join(map(re.escape, words))
    start = r"(?<!\w)" if re.match(r"\w", words[0]) else ""
    stop = r"(?!\w)" if re.search(r"\w$", words[-1]) else ""
    lead, trail = old[: len(old) - len(old.lstrip())], old[len(old.rstrip()) :]
    before = (r"\n[ \t]*" if "\n" in lead else r"(?<![ \t])[ \t]*") if lead else ""
    after = (r"[ \t]*\n" if "\n" in trail else r"[ \t]*") if trail else ""
    for found in re.finditer(f"{before}{start}{pattern}{stop}{after}", text):
        yield found[0]


def escape_normalized(text: str, old: str) -> Iterator[str]:
    """The text with one level of escapes too many."""
    plain = unescape(old)
    if plain != old and plain in text:
        yield plain


def trimmed_boundary(text: str, old: str) -> Iterator[str]:
    """The text without the white space around it."""
    trimmed = old.strip()
    if trimmed and trimmed != old and trimmed in text:
        yield trimmed


def multi_occurrence(text: str, old: str) -> Iterator[str]:
    """Every exact occurrence, for replacing all."""
    for found in re.finditer(re.escape(old), text):
        yield found[0]


def unescape(text: str) -> str:
    """Take one level of backslash escapes away."""
    return ESCAPED.sub(lambda found: ESCAPES.get(found[1], found[1]), text)


EXACT = Strategy(simple)
STRATEGIES = (
    EXACT,
    Strategy(line_trimmed, whole_lines=True),
    Strategy(block_anchor, whole_lines=True),
    Strategy(whitespace_normalized),
    Strategy(indentation_flexible, whole_lines=True),
    Strategy(escape_normalized),
    Strategy(trimmed_boundary),
    Strategy(context_aware, whole_lines=True),
    Strategy(multi_occurrence),
)

"""A text that somebody edited as it was shown to them, put back as the file writes it."""

from __future__ import annotations

from collections.abc import Sequence

from sessions.changes.diffs.lines import changed_spans, split_lines
from sessions.core.filetext import with_newline


def editable(text: str) -> str:
    """Text that can be stored and sent: bytes that are no UTF-8 become the replacement character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def as_in_file(text: str, known: Sequence[str], ending: str) -> str:
    """`text` (LF) with its lines as they are written in the `known` texts, the last of them first; a line
    that is in none gets the `ending`. So line ends and bytes that are no text stay where nothing was
    changed."""
    given = split_lines(text)
    found: dict[int, str] = {}
    for other in known:
        found |= _found(other, given)
    return "".join(found.get(number, with_newline(line, ending)) for number, line in enumerate(given))


def _found(text: str, given: Sequence[str]) -> dict[int, str]:
    """The lines among the given ones that a text has too, by number, as they are written in it."""
    raw = split_lines(text)
    shown = [editable(line).replace("\r\n", "\n") for line in raw]
    found: dict[int, str] = {}
    at = to = 0
    for start, stop, new_start, new_stop in [*changed_spans(shown, given), (len(raw), 0, len(given), 0)]:
        found |= dict(zip(range(to, new_start), raw[at:start], strict=True))
        at, to = stop, new_stop
    return found

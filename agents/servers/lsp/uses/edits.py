"""What a language server wants changed in a text (Language Server Protocol 3.17, TextEdit)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from agents.servers.lsp.types import Failed, Position, Range


def edited(text: str, edits: Sequence[Any]) -> str:
    """A text (LF) with edits made, which are all about the text as it is. Raises Failed where they make no
    sense."""
    lines = text.split("\n")
    begins = list(accumulate((len(line) + 1 for line in lines), initial=0))

    def offset(place: Position) -> int:
        if place.line >= len(lines):
            return len(text)
        line = lines[place.line]
        before = line.encode("utf-16-le", "surrogatepass")[: 2 * place.character]
        return begins[place.line] + len(before.decode("utf-16-le", "replace"))

    try:
        spans = [(Range.parse(edit["range"]), str(edit["newText"])) for edit in edits]
    except (KeyError, TypeError, ValueError) as error:
        raise Failed(f"what it wants changed is not understood: {error}") from error
    places = [(offset(span.start), offset(span.end), made) for span, made in spans]
    pieces: list[str] = []
    at = 0
    for start, end, made in sorted(places, key=lambda one: one[:2]):
        if start < at or end < start:
            raise Failed("what it wants changed overlaps")
        pieces += (text[at:start], made)
        at = end
    return "".join((*pieces, text[at:]))

"""What becomes of a proposal that a person changed before allowing it, and how the model is told.

They see text with LF where a file has CRLF, and replacement characters where it has bytes that are no text:
what they left alone is written as it was, byte for byte.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agents.toolkit.base import ToolError
from agents.toolkit.shared import filetext
from agents.toolkit.shared.proposals.content import Change, bounded, visible
from sessions.changes.diffs.lines import changed_spans, diff_text, split_lines

MOST_TOLD = 8000
"""Characters of the diff that the model is shown."""

CHANGED = "The user changed this edit before allowing it."
TAKEN_OUT = "The user took this change out before allowing the rest: nothing was applied."


def applied(change: Change, contents: Mapping[str, str | None], name: str) -> Change | None:
    """The change to make in place of the proposed one, the same when they left it as it was; None: leave the
    file alone. Raises ToolError for text that the file's encoding cannot hold."""
    if name not in contents:
        return change
    text = contents[name]
    if text is None:
        return None
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if text == visible(change.new).removeprefix("\ufeff").replace("\r\n", "\n"):
        return change
    if change.before is None and not text:
        return None
    made = _as_in_file(change, text)
    return replace(change, after=_encoded(change, made), new=made)


def told(change: Change, made: Change | None, title: str) -> str:
    """For the model: what the user made of a proposal; empty when it was applied as proposed."""
    if made is change:
        return ""
    if made is None or made.after == made.before:
        return f"{title}: {TAKEN_OUT} Do not make it again unless they ask for it."
    proposed = visible(change.new) if change.after is not None else None
    diff = bounded(diff_text(proposed, visible(made.new), title), MOST_TOLD)
    return (
        f"{title}: {CHANGED} The file has what they made of it; do not put your version back. "
        f"From what you proposed to what was applied:\n{diff}"
    )


def _as_in_file(change: Change, text: str) -> str:
    """The text as the file writes it: lines of the proposal, else of the file before, as they are there."""
    given = split_lines(text)
    known = {**_found(change.old, given), **_found(change.new, given)}
    ending = filetext.newline(change.new if change.after else change.old)
    return "".join(
        known.get(number, filetext.with_newline(line, ending)) for number, line in enumerate(given)
    )


def _found(text: str, given: Sequence[str]) -> dict[int, str]:
    """The lines among the given ones that a text has too, by number, as they are written in it."""
    raw = split_lines(text)
    shown = [visible(line).replace("\r\n", "\n") for line in raw]
    found: dict[int, str] = {}
    at = to = 0
    for start, stop, new_start, new_stop in [*changed_spans(shown, given), (len(raw), 0, len(given), 0)]:
        found |= dict(zip(range(to, new_start), raw[at:start], strict=True))
        at, to = stop, new_stop
    return found


def _encoded(change: Change, text: str) -> bytes:
    """In the encoding of the file, else in that of the proposal."""
    codecs = [filetext.detect(data) for data in (change.old and change.before, change.after) if data]
    for codec in codecs[:-1]:
        try:
            return codec.encode(text)
        except ToolError:
            continue
    return (codecs[-1] if codecs else filetext.Codec()).encode(text)

"""The text of one part while it streams: deltas in, block updates out, gaps noticed."""

from __future__ import annotations

import time
from zlib import crc32

from .blocks import BlockStream, Update

UNSURE = 0.5
"""Seconds after which a row holds every delta that was sent before; about twice what folding takes."""


class PartStream:
    """What one reader has been shown of a part.

    A delta says how many characters came before it, so an overlap is cut and a gap waits until the
    row, into which the deltas are folded, has caught up.
    """

    def __init__(self, part_id: str, message_id: str) -> None:
        self.message_id = message_id
        self._blocks = BlockStream(f"{part_id}-grow")
        self._length = 0
        self._checksum = 0
        self._early: list[tuple[int, str]] = []
        self._unsure_until = 0.0

    def doubt(self) -> None:
        """Deltas may have passed before this reader came, and none may follow: read the row for a while."""
        self._unsure_until = time.monotonic() + UNSURE

    @property
    def size(self) -> int:
        """Characters that would be rendered again."""
        return self._blocks.size

    @property
    def gap(self) -> bool:
        """Text is missing, or may be, that no delta will bring: read the row."""
        return bool(self._early) or time.monotonic() < self._unsure_until

    def due_in(self) -> float | None:
        """Seconds until `poll` would show more, None when nothing waits."""
        return self._blocks.due_in() if self._blocks.behind else None

    def poll(self) -> Update:
        return self._blocks.poll()

    def delta(self, offset: int, text: str) -> Update:
        """A delta after `offset` characters."""
        if offset > self._length:
            self._early.append((offset, text))
            return Update()
        return self._take(text[self._length - offset :])

    def row(self, text: str) -> Update:
        """The row's text, which may be behind what was shown or ahead of it; then the deltas that waited."""
        new = text[self._length :]
        early, self._early = self._early, []
        for offset, piece in early:
            shown = self._length + len(new)
            if offset > shown:
                self._early.append((offset, piece))
            else:
                new += piece[shown - offset :]
        return self._take(new)

    def finish(self, text: str) -> Update | None:
        """The part is complete with this text; None when what was shown is no beginning of it."""
        if _checksum(text[: self._length]) != self._checksum or len(text) < self._length:
            return None
        rest = self._take(text[self._length :])
        last = self._blocks.close()
        return Update(closed=rest.closed + last.closed, open="")

    def close(self) -> Update:
        """No more text comes."""
        return self._blocks.close()

    def _take(self, text: str) -> Update:
        if not text:
            return Update()
        self._length += len(text)
        self._checksum = _checksum(text, self._checksum)
        return self._blocks.feed(text)


def _checksum(text: str, before: int = 0) -> int:
    return crc32(text.encode("utf-8", "surrogatepass"), before)

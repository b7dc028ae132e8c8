"""Server-sent events out of bytes that are cut anywhere (WHATWG HTML, "Server-sent events", §9.2.6)."""

from __future__ import annotations

_BOM = b"\xef\xbb\xbf"


class Decoder:
    """Gives the `data` of each event; event names, ids, retry times and comments are passed over.

    Lines are cut while they are still bytes, so a character split between two chunks stays whole.
    """

    __slots__ = ("_data", "_first", "_pieces")

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._data: list[str] = []
        self._first = True

    def feed(self, chunk: bytes) -> list[str]:
        """Take the next bytes; return the data of the events they complete."""
        if b"\n" not in chunk and b"\r" not in chunk and not self._ends_with_return():
            self._pieces.append(chunk)
            return []
        if self._pieces:
            chunk = b"".join((*self._pieces, chunk))
            self._pieces.clear()
        lines = chunk.splitlines(keepends=True)
        # A return at the very end may be the first half of a line end: wait for what follows.
        if not lines[-1].endswith(b"\n"):
            self._pieces.append(lines.pop())
        return self._take(lines)

    def end(self) -> list[str]:
        """The data of an event that the end of the stream left without its blank line."""
        rest = b"".join(self._pieces)
        self._pieces.clear()
        return self._take([*rest.splitlines(), b""])

    def _ends_with_return(self) -> bool:
        return bool(self._pieces) and self._pieces[-1].endswith(b"\r")

    def _take(self, lines: list[bytes]) -> list[str]:
        events: list[str] = []
        for raw in lines:
            line = raw.rstrip(b"\r\n")
            if self._first:
                line, self._first = line.removeprefix(_BOM), False
            if line.startswith(b"data:"):
                self._data.append(line[5:].decode("utf-8", "replace").removeprefix(" "))
            elif not line and self._data:
                if event := "\n".join(self._data):
                    events.append(event)
                self._data.clear()
        return events

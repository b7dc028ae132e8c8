"""The rows of an SQLite file, page by page, for what SQLite's own reader gives up on.

Numbers in brackets are sections of https://www.sqlite.org/fileformat2.html. Whatever the bytes are, nothing
is raised and everything ends: what makes no sense is left out.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

Row = tuple[Any, ...]

HEADER = 100
_INTERIOR, _LEAF = 0x05, 0x0D
_ENCODINGS = {2: "utf-16-le", 3: "utf-16-be"}
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
"""Bytes of an integer by its serial type (2.1)."""


class _Broken(Exception):
    """A record that is not whole."""


def page_size(head: bytes) -> int:
    """By the first 100 bytes of a file; 0 if they do not tell."""
    (size,) = struct.unpack_from(">H", head, 16)
    size = 65536 if size == 1 else size
    return size if size >= 512 and size & (size - 1) == 0 else 0


class Pages:
    """A file without its write-ahead log, from its first byte; its pages are counted from 1."""

    def __init__(self, data: bytes | bytearray | mmap.mmap) -> None:
        head = bytes(data[:HEADER])
        self._data = data
        self.size = page_size(head) if len(head) == HEADER else 0
        self.count = len(data) // self.size if self.size else 0
        self._usable = self.size - (head[20] if self.size else 0)
        self._encoding = _ENCODINGS.get(head[59], "utf-8") if self.size else ""
        self._cell_of: dict[int, int] = {}

    def tree(self, root: int) -> Iterator[int]:
        """The pages of a table that can be reached from its root, in the order of their rows (1.6)."""
        seen, ahead = set(), [root]
        while ahead:
            page = ahead.pop()
            if page in seen or not 1 <= page <= self.count:
                continue
            seen.add(page)
            if self._kind(page) == _INTERIOR:
                below = [self._number(cell) for cell in self._cells(page)]
                ahead += [self._number(self._head(page) + 8), *reversed(below)]
            if self._kind(page) in (_INTERIOR, _LEAF):
                yield page

    def leaves(self, root: int) -> list[int]:
        """Those of them that hold rows."""
        return [page for page in self.tree(root) if self._kind(page) == _LEAF]

    def all_leaves(self) -> Iterator[int]:
        """Each page that holds rows of a table, or once did."""
        return (page for page in range(1, self.count + 1) if self._kind(page) == _LEAF)

    def free(self) -> tuple[set[int], bool]:
        """The pages that are known to be free, and whether those are all (1.5)."""
        found: set[int] = set()
        if not self.count:
            return found, False
        trunk, total = struct.unpack_from(">II", self._data, 32)
        while 1 <= trunk <= self.count and trunk not in found:
            at = (trunk - 1) * self.size
            found.add(trunk)
            trunk, leaves = struct.unpack_from(">II", self._data, at)
            found.update(struct.unpack_from(f">{min(leaves, self._usable // 4 - 2)}I", self._data, at + 8))
        return found, trunk == 0 and len(found) == total

    def rows(
        self, page: int, wanted: Callable[[int], bool] = lambda _: True
    ) -> Iterator[tuple[int, Row | None]]:
        """The rows of a leaf whose numbers (rowid) are wanted; None for one that is broken or partly lost."""
        end = (page - 1) * self.size + self._usable
        for cell in self._cells(page):
            try:
                size, at = _varint(self._data, cell, end)
                number, at = _varint(self._data, at, end)
            except _Broken:
                continue
            number -= (number >> 63) << 64
            if not wanted(number):
                continue
            row = None
            with suppress(_Broken):
                row = _values(self._payload(cell, at, end, size), self._encoding)
            yield number, row

    def _kind(self, page: int) -> int:
        return self._data[self._head(page)]

    def _head(self, page: int) -> int:
        return HEADER if page == 1 else (page - 1) * self.size

    def _number(self, at: int) -> int:
        return int(struct.unpack_from(">I", self._data, at)[0]) if at + 4 <= len(self._data) else 0

    def _cells(self, page: int) -> list[int]:
        """Where the cells of a page are; what was deleted from it is none of them (1.6)."""
        start, head = (page - 1) * self.size, self._head(page)
        first = head + (12 if self._kind(page) == _INTERIOR else 8)
        (count,) = struct.unpack_from(">H", self._data, head + 3)
        count = min(count, (start + self._usable - first) // 2)
        places = struct.unpack_from(f">{count}H", self._data, first)
        least = first + 2 * count - start
        return [start + place for place in dict.fromkeys(places) if least <= place < self._usable]

    def _payload(self, cell: int, at: int, end: int, size: int) -> bytes:
        """What a leaf's cell holds, with what overflowed from it (1.6, 1.7)."""
        most, least = self._usable - 35, (self._usable - 12) * 32 // 255 - 23
        here = size
        if size > most:
            here = least + (size - least) % (self._usable - 4)
            here = here if here <= most else least
        if at + here + (4 if here < size else 0) > end:
            raise _Broken
        parts = [bytes(self._data[at : at + here])]
        left, page = size - here, self._number(at + here) if here < size else 0
        seen: set[int] = set()
        while left > 0:
            # A page belongs to one cell: chains that share pages or are circles cost no more than the file.
            if not 1 <= page <= self.count or page in seen or self._cell_of.setdefault(page, cell) != cell:
                raise _Broken
            seen.add(page)
            start = (page - 1) * self.size
            part = bytes(self._data[start + 4 : start + 4 + min(left, self._usable - 4)])
            page = self._number(start)
            if not page and not any(part):
                raise _Broken  # a lost page that was filled up with nothing
            parts.append(part)
            left -= len(part)
        if page:
            raise _Broken
        return b"".join(parts)


def _varint(data: bytes | bytearray | mmap.mmap, at: int, end: int) -> tuple[int, int]:
    """A number of one to nine bytes, and where the next begins."""
    value = 0
    for place in range(at, min(at + 9, end)):
        byte = data[place]
        if place == at + 8:
            return value << 8 | byte, place + 1
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place + 1
    raise _Broken


def _values(record: bytes, encoding: str) -> Row:
    """The values of a record (2.1); text that is none is taken as SQLite would give it."""
    body, at = _varint(record, 0, len(record))
    end, values = body, []
    while at < end <= len(record):
        kind, at = _varint(record, at, end)
        size = _INTEGERS.get(kind, 8 if kind == 7 else (kind - 12) // 2 if kind >= 12 else 0)
        part = record[body : body + size]
        body += size
        if kind in (10, 11) or body > len(record):
            raise _Broken
        values.append(_value(kind, part, encoding))
    if at != end or body != len(record):
        raise _Broken
    return tuple(values)


def _value(kind: int, part: bytes, encoding: str) -> Any:
    if kind in _INTEGERS:
        return int.from_bytes(part, "big", signed=True)
    if kind == 7:
        return float(struct.unpack(">d", part)[0])
    if kind in (8, 9):
        return kind - 8
    if kind >= 12:
        return part.decode(encoding, "replace") if kind % 2 else part
    return None

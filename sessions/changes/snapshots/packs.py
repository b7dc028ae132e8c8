"""Read git packs in this process (gitformat-pack(5)): a content out of one costs no process of its own."""

from __future__ import annotations

import mmap
import os
import struct
import zlib
from bisect import bisect_left
from pathlib import Path

_WHOLE = 0x10000


def read_size(data: bytes | mmap.mmap, at: int, bits: int = 7) -> tuple[int, int]:
    """A number in groups of seven bits, the low ones first, and where it ends. The first byte has only
    `bits` of it."""
    byte = data[at]
    size, shift = byte & ((1 << bits) - 1), bits
    while byte & 0x80:
        at += 1
        byte = data[at]
        size |= (byte & 0x7F) << shift
        shift += 7
    return size, at + 1


def apply_delta(base: bytes, delta: bytes) -> bytes:
    """What `delta` makes of `base`. Raises ValueError when the two do not belong together."""
    base_size, at = read_size(delta, 0)
    size, at = read_size(delta, at)
    if base_size != len(base):
        raise ValueError("the delta belongs to another content")
    pieces = []
    while at < len(delta):
        byte = delta[at]
        at += 1
        if byte & 0x80:
            start, length, at = _copied(delta, at, byte)
            pieces.append(base[start : start + length])
        else:
            pieces.append(delta[at : at + byte])
            at += byte
    result = b"".join(pieces)
    if len(result) != size:
        raise ValueError("the delta is damaged")
    return result


def _copied(delta: bytes, at: int, flags: int) -> tuple[int, int, int]:
    """Which piece of the base: start and length, each of their bytes there only when its flag is set."""
    values = [0, 0]
    for bit in range(7):
        if flags >> bit & 1:
            number, place = (0, bit) if bit < 4 else (1, bit - 4)
            values[number] |= delta[at] << 8 * place
            at += 1
    return values[0], values[1] or _WHOLE, at


_HEAD = 8
_FAN = 256
_KINDS = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
_BY_OFFSET, _BY_ID = 6, 7
_CHUNK = 1 << 16


class Pack:
    """One pack and its index, mapped into memory; readable also after its files were removed. Raises
    OSError, ValueError when they are not there or not of version 2."""

    def __init__(self, index: Path) -> None:
        self.path = index.with_suffix(".pack")
        self._index = _mapped(index)
        self._data = _mapped(self.path)
        if self._index[:_HEAD] != b"\377tOc\0\0\0\2":
            raise ValueError(f"{index} is not an index of version 2")
        self._fan = struct.unpack_from(f">{_FAN}I", self._index, _HEAD)
        self.count = self._fan[-1]
        self._ids = _HEAD + 4 * _FAN
        self._offsets = self._ids + self.count * 24  # 20 of the id and 4 of a checksum

    def find(self, oid: str) -> int | None:
        """The place of an object in the pack."""
        wanted = bytes.fromhex(oid)
        low, high = self._fan[wanted[0] - 1] if wanted[0] else 0, self._fan[wanted[0]]
        at = bisect_left(range(self.count), wanted, low, high, key=self._id)
        return self._offset(at) if at < high and self._id(at) == wanted else None

    def sizes(self) -> dict[str, int]:
        """What each object takes in the pack, by its id, in bytes."""
        starts = {self._offset(at): self._id(at).hex() for at in range(self.count)}
        ordered = sorted(starts)
        ends = [*ordered[1:], len(self._data) - 20]
        return {starts[start]: end - start for start, end in zip(ordered, ends, strict=True)}

    def read(self, offset: int) -> tuple[str, bytes]:
        """Kind and content of the object there; what it is a delta to is read first."""
        deltas: list[bytes] = []
        while True:
            kind, base, at = self._header(offset)
            data = self._inflate(at)
            if kind in _KINDS:
                break
            deltas.append(data)
            offset = base
        for delta in reversed(deltas):
            data = apply_delta(data, delta)
        return _KINDS[kind], data

    def _header(self, offset: int) -> tuple[int, int, int]:
        """Kind, place of the base of a delta, and where the compressed data begin."""
        kind = self._data[offset] >> 4 & 7
        _, at = read_size(self._data, offset, 4)
        if kind == _BY_OFFSET:
            distance = self._data[at] & 0x7F
            while self._data[at] & 0x80:
                at += 1
                distance = (distance + 1 << 7) | (self._data[at] & 0x7F)
            return kind, offset - distance, at + 1
        if kind == _BY_ID:
            base = self.find(self._data[at : at + 20].hex())
            if base is None:
                raise ValueError("a delta to an object in another pack")
            return kind, base, at + 20
        return kind, 0, at

    def _inflate(self, at: int) -> bytes:
        inflater = zlib.decompressobj()
        found = []
        while not inflater.eof and at < len(self._data):
            found.append(inflater.decompress(self._data[at : at + _CHUNK]))
            at += _CHUNK
        return b"".join(found)

    def _id(self, at: int) -> bytes:
        start = self._ids + 20 * at
        return self._index[start : start + 20]

    def _offset(self, at: int) -> int:
        (offset,) = struct.unpack_from(">I", self._index, self._offsets + 4 * at)
        if offset & 0x80000000:
            place = self._offsets + 4 * self.count + 8 * (offset & 0x7FFFFFFF)
            (offset,) = struct.unpack_from(">Q", self._index, place)
        return int(offset)


class Packs:
    """All packs of one folder; looked up again when something came or went."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen = -1
        self._packs: tuple[Pack, ...] = ()

    def all(self) -> tuple[Pack, ...]:
        """The packs that are there now."""
        stamp = os.stat(self._folder).st_mtime_ns
        if stamp != self._seen:
            known = {pack.path: pack for pack in self._packs}
            indexes = sorted(self._folder.glob("*.idx"))
            found = (known.get(index.with_suffix(".pack")) or _opened(index) for index in indexes)
            self._packs, self._seen = tuple(pack for pack in found if pack), stamp
        return self._packs

    def holder(self, oid: str) -> Pack | None:
        """The pack that has an object."""
        return next((pack for pack in self.all() if pack.find(oid) is not None), None)

    def get(self, oid: str) -> bytes | None:
        """The content of an object; None when no pack has it, or the one that has it is damaged."""
        for pack in self.all():
            offset = pack.find(oid)
            if offset is None:
                continue
            try:
                return pack.read(offset)[1]
            except (ValueError, IndexError, struct.error, zlib.error):
                continue
        return None


def _opened(index: Path) -> Pack | None:
    """None for a pack that is damaged, or was removed by now."""
    try:
        return Pack(index)
    except (OSError, ValueError, struct.error):
        return None


def _mapped(path: Path) -> mmap.mmap:
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

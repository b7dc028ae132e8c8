"""Deltas of git packs: a content as pieces of another one and new bytes (gitformat-pack(5))."""

from __future__ import annotations

import mmap

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

"""Answers that are small on the wire and large in memory: what `Content-Encoding` says, and the body."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from functools import cache

UNPACKED = 256 * 1024 * 1024
"""Bytes; httpx makes a chunk of 64 KB to all of it at once."""


@cache
def packed(wrapper: int = 31) -> bytes:
    """So many blanks, in 250 KB."""
    compressor = zlib.compressobj(6, zlib.DEFLATED, wrapper)
    piece = b" " * 1024 * 1024
    pieces = [compressor.compress(piece) for _ in range(UNPACKED // len(piece))]
    return b"".join(pieces) + compressor.flush()


ANSWERS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "once": ("gzip", packed),
    "twice": ("gzip, gzip", lambda: gzip.compress(packed())),
    "twice, by two names": ("x-gzip,gzip", lambda: gzip.compress(packed())),
    "three times": ("gzip, gzip, gzip", lambda: gzip.compress(gzip.compress(packed()))),
    "deflate": ("deflate", lambda: packed(15)),
    "deflate in gzip": ("deflate, gzip", lambda: gzip.compress(packed(15))),
    "capitals": ("GZIP", packed),
    "identity": ("identity", lambda: b" " * (24 * 1024 * 1024)),
    "not packed at all": ("gzip", lambda: b" " * 100_000),
    "cut off": ("gzip", lambda: packed()[:-1000]),
    "an unknown one": ("br", lambda: b"\x8b\x02\x80" * 1000),
    "many empty members": ("gzip", lambda: gzip.compress(b"") * 20_000 + packed()),
}

"""Instruction files, read whole once and again only when their stamp has changed."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sessions.models.ledger import shown

MAX_BYTES = 64 * 1024
CUT = f"(Cut here: only the first {MAX_BYTES // 1024} KB are given.)"
_CACHED = 512

Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Document:
    """One text of instructions and where it comes from; `digest` stands for the text where it is compared."""

    origin: str
    text: str
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        digest = hashlib.sha256(self.text.encode("utf-8", "replace")).hexdigest()
        object.__setattr__(self, "digest", digest)


_read: dict[Path, tuple[Stamp, Document | None]] = {}


def document(path: Path) -> Document | None:
    """A file's instructions; None without a readable regular file, or without a text in it."""
    stamp = _stamp(path)
    if stamp is None:
        return None
    known = _read.get(path)
    if known is None or known[0] != stamp:
        while len(_read) >= _CACHED:
            _read.pop(next(iter(_read)), None)
        known = _read[path] = (stamp, _fresh(path))
    return known[1]


def first_of(folder: Path, names: Sequence[str]) -> Document | None:
    """The first of these names in a folder that has a text."""
    return next((found for name in names if (found := document(folder / name))), None)


def bounded(raw: bytes) -> str:
    """Bytes as text, cut at 64 KB with a word about it."""
    text = raw[:MAX_BYTES].decode("utf-8", "replace").strip()
    return text if len(raw) <= MAX_BYTES else f"{text.rstrip('�')}\n\n{CUT}"


def _stamp(path: Path) -> Stamp | None:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    # Reading a pipe would never end.
    return (status.st_mtime_ns, status.st_size, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def _fresh(path: Path) -> Document | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # it may have become a pipe meanwhile
        with os.fdopen(descriptor, "rb") as file:
            text = bounded(file.read(MAX_BYTES + 1))
    except OSError:
        return None
    return Document(shown(str(path)), text) if text else None

"""Instruction files, read whole once and again only when their stamp has changed."""

from __future__ import annotations

import hashlib
import logging
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agents.config.trust.reach import Reach
from sessions.core.bounded import Bounded
from sessions.core.confined import read
from sessions.core.models.ledger import shown
from sessions.core.platform.stamps import Stamp, stamp_of

MAX_BYTES = 64 * 1024
CUT = f"(Cut here: only the first {MAX_BYTES // 1024} KB are given.)"
_CACHED = 512

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Document:
    """One text of instructions and where it comes from; `digest` stands for the text where it is compared."""

    origin: str
    text: str
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        digest = hashlib.sha256(self.text.encode("utf-8", "replace")).hexdigest()
        object.__setattr__(self, "digest", digest)


_read: Bounded[Path, tuple[Stamp, Document | None]] = Bounded(_CACHED)


def document(path: Path, reach: Reach | None = None) -> Document | None:
    """A file's instructions; None without a readable regular file, or without a text in it. A project's files
    come with its reach: what is beyond that is not read."""
    now = _stamp(path)
    if now is None:
        return None
    try:
        within = reach.root(path) if reach is not None else None
    except OSError as error:
        logger.warning("instructions are left out: %s", error)
        return None
    known = _read.get(path)
    if known is None or known[0] != now:
        known = _read[path] = (now, _fresh(path, within))
    return known[1]


def first_of(folder: Path, names: Sequence[str], reach: Reach) -> Document | None:
    """The first of these names in a folder that has a text."""
    return next((found for name in names if (found := document(folder / name, reach))), None)


def bounded(raw: bytes) -> str:
    """Bytes as text, cut at 64 KB with a word about it."""
    text = raw[:MAX_BYTES].decode("utf-8", "replace").strip()
    return text if len(raw) <= MAX_BYTES else f"{text.rstrip('�')}\n\n{CUT}"


def _stamp(path: Path) -> Stamp:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return stamp_of(status) if stat.S_ISREG(status.st_mode) else None  # reading a pipe would never end


def _fresh(path: Path, within: Path | None) -> Document | None:
    try:
        text = bounded(read(path, within, MAX_BYTES + 1))
    except OSError:
        return None
    return Document(shown(str(path)), text) if text else None

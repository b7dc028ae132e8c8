"""The trees that a living process may still compare: no collection takes them away.

A process holds one file, locked as long as it lives; the lock goes with it, also after kill -9. Both sides
come here under the store's lock.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import weakref
from pathlib import Path

_FOLDER = "pins"
_HELD = 2
"""What a command changed is found by comparing the last tree with the one before it."""


class Pin:
    """The last trees of one SnapshotStore."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._trees: tuple[str, ...] = ()
        self._descriptor: int | None = None

    def hold(self, tree: str) -> None:
        """`tree` is the newest one. Raises OSError."""
        if tree in self._trees[-1:]:
            return
        self._trees = (*self._trees, tree)[-_HELD:]
        if self._descriptor is None:
            self._descriptor = _create(self._root / _FOLDER)
            weakref.finalize(self, os.close, self._descriptor)
        line = " ".join(tree.rjust(40) for tree in self._trees).ljust(41 * _HELD)
        os.pwrite(self._descriptor, line.encode(), 0)


def pinned(root: Path) -> set[str]:
    """The trees that living processes hold in the store at `root`; what dead ones left is removed."""
    held: set[str] = set()
    for path in (root / _FOLDER).glob("*"):
        with path.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink(missing_ok=True)
            except BlockingIOError:
                held.update(file.read().decode().split())
    return held


def _create(folder: Path) -> int:
    folder.mkdir(exist_ok=True)
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    descriptor = os.open(folder / secrets.token_hex(8), flags, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor
